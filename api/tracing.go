package api

import (
	"context"
	"fmt"
	"os"

	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"toolgym/internal/refusal"
)

// TracesWanted reports whether the environment names a collector of traces, by
// OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, and does
// not switch them off by OTEL_SDK_DISABLED or OTEL_TRACES_EXPORTER=none.
func TracesWanted() bool {
	named := os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") + os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	return named != "" && os.Getenv("OTEL_SDK_DISABLED") != "true" && os.Getenv("OTEL_TRACES_EXPORTER") != "none"
}

// newTracing makes what sends spans, over HTTP, to where the OTEL_* variables
// say; its batches are sent in the background and bounded. Nil means that no
// traces are wanted.
func newTracing(ctx context.Context, c Config) (*sdk.TracerProvider, error) {
	if !c.Traces {
		return nil, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the OTEL_EXPORTER_OTLP variables: %w", err)
	}
	about, err := c.traced(ctx)
	if err != nil {
		return nil, err
	}
	return sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about)), nil
}

// traced describes this program to the collector of traces.
func (c Config) traced(ctx context.Context) (*resource.Resource, error) {
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "toolgym"), attribute.String("service.version", c.Version)),
		resource.WithFromEnv())
	if err != nil {
		return nil, refusal.New("OTEL_RESOURCE_ATTRIBUTES", "key=value,...", "%v", err)
	}
	return about, nil
}

func (c Config) validateTraces() error {
	if !c.Traces {
		return nil
	}
	_, err := c.traced(context.Background())
	return err
}

// traced makes a span of a request, a child of the client's where it says so.
func traced(provider trace.TracerProvider) echo.MiddlewareFunc {
	wrap := echo.WrapMiddleware(otelhttp.NewMiddleware("request", otelhttp.WithTracerProvider(provider), otelhttp.WithPropagators(propagation.TraceContext{})))
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return wrap(func(c echo.Context) error {
			err := next(c)
			span := trace.SpanFromContext(c.Request().Context())
			span.SetName(knownMethod(c.Request().Method) + " " + c.Path())
			span.SetAttributes(attribute.String("http.route", c.Path()), attribute.String("request_id", exchangeOf(c.Request().Context()).id))
			return err
		})
	}
}
