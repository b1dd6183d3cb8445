package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/tmc/langchaingo/llms"
)

// provider names this model in its errors.
const provider = "ollama (toolgym)"

// errCut is the cause of the error for a prompt that its server has cut.
var errCut = errors.New("the prompt was cut")

// refused is the error for a request that can not be carried out as it stands.
func refused(format string, args ...any) error {
	return llms.NewError(llms.ErrCodeInvalidRequest, provider, fmt.Sprintf(format, args...))
}

// unsupported is the error for what Ollama can not do.
func unsupported(format string, args ...any) error {
	return llms.NewError(llms.ErrCodeNotImplemented, provider, fmt.Sprintf(format, args...))
}

// broken is the error of a connection. A context that has ended is its true
// cause, whatever the connection says.
func broken(ctx context.Context, doing string, err error) error {
	code := llms.ErrCodeProviderUnavailable
	if cause := ctx.Err(); cause != nil {
		err, code = cause, llms.ErrCodeCanceled
		if errors.Is(cause, context.DeadlineExceeded) {
			code = llms.ErrCodeTimeout
		}
	}
	return llms.NewError(code, provider, fmt.Sprintf("%s: %v", doing, err)).WithCause(err)
}

// answered is the error of a server that answered with a status of failure. The
// detail "status" keeps the number.
func answered(status int, body []byte) error {
	message := explain(body)
	return llms.NewError(codeOf(status), provider, fmt.Sprintf("%d %s: %s", status, http.StatusText(status), message)).
		WithDetail("status", status).WithDetail("message", message)
}

// explain takes the message out of {"error": message}.
func explain(body []byte) string {
	var failure struct {
		Error string `json:"error"`
	}
	if err := json.Unmarshal(body, &failure); err != nil || failure.Error == "" {
		return clip(string(body), 500)
	}
	return clip(failure.Error, 4000)
}

func codeOf(status int) llms.ErrorCode {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return llms.ErrCodeAuthentication
	case http.StatusNotFound:
		return llms.ErrCodeResourceNotFound
	case http.StatusTooManyRequests:
		return llms.ErrCodeRateLimit
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return llms.ErrCodeTimeout
	}
	if status >= http.StatusInternalServerError {
		return llms.ErrCodeProviderUnavailable
	}
	return llms.ErrCodeInvalidRequest
}
