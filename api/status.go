package api

import (
	"net/http"

	"toolgym/tools"
)

// statusOf is the one table from the codes of tools.Error to HTTP. A code that
// is not in it is our own mistake, and answered like one.
func statusOf(code string) int {
	switch code {
	case tools.Invalid:
		return http.StatusUnprocessableEntity
	case tools.Unauthorized:
		return http.StatusUnauthorized
	case tools.Forbidden:
		return http.StatusForbidden
	case tools.NotFound:
		return http.StatusNotFound
	case tools.Conflict:
		return http.StatusConflict
	case tools.Gone:
		return http.StatusGone
	case tools.TooLarge:
		return http.StatusRequestEntityTooLarge
	case tools.Exhausted, tools.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// codeOf names the refusals that HTTP itself knows, and that no tools.Error
// stands behind, by the nearest code.
func codeOf(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return tools.Unauthorized
	case http.StatusForbidden, http.StatusMisdirectedRequest:
		return tools.Forbidden
	case http.StatusNotFound:
		return tools.NotFound
	case http.StatusConflict:
		return tools.Conflict
	case http.StatusGone:
		return tools.Gone
	case http.StatusRequestEntityTooLarge:
		return tools.TooLarge
	case http.StatusTooManyRequests:
		return tools.Exhausted
	case http.StatusServiceUnavailable:
		return tools.Unavailable
	}
	if status >= 400 && status < 500 {
		return tools.Invalid
	}
	return ""
}
