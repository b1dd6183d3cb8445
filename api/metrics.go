package api

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"

	"github.com/labstack/echo-contrib/echoprometheus"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"toolgym/grpo"
	"toolgym/internal/goroutine"
)

// metrics are what /metrics shows. Every label has a bounded number of values:
// what a client makes up never becomes one.
type metrics struct {
	registry *prometheus.Registry
	begun    *prometheus.CounterVec   // episodes by environment
	steps    *prometheus.CounterVec   // by environment and outcome: ok, mistake
	rewards  *prometheus.HistogramVec // the environment's own, a step, by environment
	scored   *prometheus.CounterVec   // completions by outcome: scored, unscored
	scores   prometheus.Histogram     // rewards that rubrics gave
	requests echo.MiddlewareFunc
}

const namespace = "toolgym"

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels)
}

// newMetrics registers everything, in a registry of this server's own.
func newMetrics(s *Server) (*metrics, error) {
	rewards := []float64{-5, -2, -1, -0.5, -0.1, 0, 0.1, 0.5, 1, 2, 3, 4, 5, 6, 10}
	m := &metrics{registry: prometheus.NewRegistry(),
		begun:   counter("episodes_begun_total", "Episodes that were begun.", "env"),
		steps:   counter("steps_total", "Steps of episodes; a mistake is the agent's.", "env", "outcome"),
		rewards: histogram("step_reward", "Rewards of steps, the environments' own.", rewards, "env"),
		scored:  counter("completions_total", "Completions that were sent to be scored.", "outcome"),
		scores:  prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: "reward", Help: "Rewards that rubrics gave.", Buckets: rewards}),
	}
	all := append(gauges(s), m.begun, m.steps, m.rewards, m.scored, m.scores,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, c := range all {
		if err := m.registry.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics: %w", err)
		}
	}
	var err error
	m.requests, err = echoprometheus.MiddlewareConfig{
		Namespace: namespace, Subsystem: "http", Registerer: m.registry, DoNotUseRequestPathFor404: true,
		LabelFuncs: map[string]echoprometheus.LabelValueFunc{
			"host":   func(echo.Context, error) string { return "" },
			"method": func(c echo.Context, _ error) string { return knownMethod(c.Request().Method) },
		},
		HistogramOptsFunc: func(opts prometheus.HistogramOpts) prometheus.HistogramOpts {
			if opts.Name == "request_duration_seconds" {
				opts.Buckets = []float64{0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30}
			}
			return opts
		},
	}.ToMiddleware()
	if err != nil {
		return nil, fmt.Errorf("registering metrics of requests: %w", err)
	}
	return m, nil
}

// knownMethod keeps unknown methods out of the labels.
func knownMethod(method string) string {
	if slices.Contains([]string{http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodPut, http.MethodPatch, http.MethodOptions}, method) {
		return method
	}
	return "other"
}

// step counts a step that was made.
func (m *metrics) step(env string, reward float64, mistake bool) {
	outcome := "ok"
	if mistake {
		outcome = "mistake"
	}
	m.steps.WithLabelValues(env, outcome).Inc()
	m.rewards.WithLabelValues(env).Observe(reward)
}

// scoring counts completions that were scored, and those that could not be.
func (m *metrics) scoring(response grpo.Response) {
	for _, group := range response.Groups {
		for _, score := range group.Completions {
			m.reward(score.Reward)
		}
	}
}

// reward counts a completion by its reward, which is nil where there is none.
func (m *metrics) reward(reward *float64) {
	if reward == nil {
		m.scored.WithLabelValues("unscored").Inc()
		return
	}
	m.scored.WithLabelValues("scored").Inc()
	m.scores.Observe(*reward)
}

// gauges show what is under way.
func gauges(s *Server) []prometheus.Collector {
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, func() float64 {
			read := math.NaN()
			err := goroutine.Run(func() error { // Prometheus calls this in goroutines of its own
				read = value()
				return nil
			})
			if err != nil {
				s.config.Logger.LogAttrs(context.Background(), slog.LevelError, "reading a gauge", slog.String("gauge", name), goroutine.Attr(err))
			}
			return read
		})
	}
	return []prometheus.Collector{
		gauge("episodes_live", "Episodes that are live.", func() float64 { return float64(s.episodes.live()) }),
		gauge("episodes_bytes", "What the trajectories of the live episodes take, about.", func() float64 { return float64(s.episodes.bytes()) }),
		gauge("policy_runs_live", "Policy runs that train, or are held.", func() float64 { return float64(s.runs.Busy()) }),
		gauge("policy_updates_live", "Updates made by the policy runs that train, or are held.", func() float64 { return float64(s.runs.Updates()) }),
		gauge("evaluations_live", "Evaluations that are under way.", func() float64 {
			if s.evals == nil {
				return 0
			}
			return float64(s.evals.Busy())
		}),
	}
}

func (s *Server) metricRoutes() {
	s.echo.GET("/metrics", requires(Admin, echoprometheus.NewHandlerWithConfig(echoprometheus.HandlerConfig{Gatherer: prometheus.Gatherers{s.metrics.registry}})))
}
