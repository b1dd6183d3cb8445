package chart

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"

	"gonum.org/v1/plot/vg/vgsvg"
)

// family is what browsers draw text in: Liberation Sans, with whose measures
// the drawing was made, and fonts of the same widths.
const family = "Liberation Sans, Arial, Helvetica, sans-serif"

// markup is a canvas as an element of a page.
func markup(canvas *vgsvg.Canvas, title, description string) (string, error) {
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", fmt.Errorf("writing a chart: %w", err)
	}
	text := Plain(b.String())
	return strings.Replace(text, ">", fmt.Sprintf(` role="img"><title>%s</title><desc>%s</desc>`, html.EscapeString(title), html.EscapeString(description)), 1), nil
}

var (
	sized  = regexp.MustCompile(`<svg width="[^"]*" height="[^"]*"`)
	styled = regexp.MustCompile(`\s*style="([^"]*)"`)
)

// Plain turns a file of SVG that gonum has written into an element for a page:
// without the declarations of a file, without a size of its own, and with
// attributes in place of style.
func Plain(file string) string {
	_, text, _ := strings.Cut(file, "<svg")
	text = sized.ReplaceAllString("<svg"+text, "<svg")
	text = styled.ReplaceAllStringFunc(text, func(style string) string {
		var b strings.Builder
		for declaration := range strings.SplitSeq(styled.FindStringSubmatch(style)[1], ";") {
			name, value, ok := strings.Cut(declaration, ":")
			switch name = strings.TrimSpace(name); {
			case !ok || name == "font-variant" || value == "normal":
			case name == "font-family":
				fmt.Fprintf(&b, ` font-family="%s"`, family)
			default:
				fmt.Fprintf(&b, ` %s="%s"`, name, value)
			}
		}
		return b.String()
	})
	return strings.TrimSpace(text)
}
