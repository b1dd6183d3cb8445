package lab_test

import (
	"errors"
	"net/url"
	"testing"

	"toolgym/api/lab"
	"toolgym/grpo"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
)

func TestSettings(t *testing.T) {
	specs := tools.Specs{arithmetic.Spec(), gridworld.Spec()}
	for query, where := range map[string]string{
		"":                             "",
		"env=gridworld&level=4&seed=0": "",
		"format=-5&length=1&epsilon=0.01&bound=2&group=64": "",
		"after=run:x&before=ollama:llama3.2:3b":            "",
		"colour=red":                                       "colour",
		"env=chess":                                        "env",
		"env=gridworld&level=large":                        "level",
		"level=9":                                          "level",
		"seed=-1":                                          "seed",
		"seed=18446744073709551616":                        "seed",
		"group=1":                                          "group",
		"group=65":                                         "group",
		"group=eight":                                      "group",
		"format=5.01":                                      "format",
		"length=-1.5":                                      "length",
		"epsilon=0":                                        "epsilon",
		"beta=NaN":                                         "beta",
		"beta=-0.1":                                        "beta",
		"bound=Inf":                                        "bound",
		"format=1&format=2":                                "format",
		"env=gridworld&env=arithmetic":                     "env",
	} {
		t.Run(query, func(t *testing.T) {
			values, err := url.ParseQuery(query)
			if err != nil {
				t.Fatal(err)
			}
			got, err := lab.ParseSettings(values, specs, grpo.DefaultRubric())
			mistake, _ := errors.AsType[*tools.Error](err)
			switch {
			case where == "" && err != nil:
				t.Fatal(err)
			case where == "":
				again, err := lab.ParseSettings(got.Query(), specs, grpo.DefaultRubric())
				if err != nil || again != got {
					t.Errorf("%+v is written and read as %+v, %v", got, again, err)
				}
			case mistake == nil || mistake.Where != where:
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestSliderTexts(t *testing.T) {
	settings, err := lab.ParseSettings(url.Values{}, tools.Specs{arithmetic.Spec()}, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"format": "+1.00", "schema": "+1.50", "completion": "+3.00", "length": "−0.05", "beta": "0.05", "epsilon": "0.20", "bound": "0.12"}
	for _, slider := range settings.Sliders() {
		if slider.Text() != want[slider.Name] {
			t.Errorf("%s is written %s", slider.Name, slider.Text())
		}
	}
}
