package api

import (
	"net/http"

	"toolgym/tools"
)

// A coded is a row of the one table between the codes of tools.Error and HTTP.
type coded struct {
	code   string
	status int
}

func codes() [9]coded {
	return [...]coded{
		{tools.Invalid, http.StatusUnprocessableEntity},
		{tools.Unauthorized, http.StatusUnauthorized},
		{tools.Forbidden, http.StatusForbidden},
		{tools.NotFound, http.StatusNotFound},
		{tools.Conflict, http.StatusConflict},
		{tools.Gone, http.StatusGone},
		{tools.TooLarge, http.StatusRequestEntityTooLarge},
		{tools.Unavailable, http.StatusServiceUnavailable}, // before exhausted: it is what the status alone means
		{tools.Exhausted, http.StatusServiceUnavailable},
	}
}

// statusOf is a code's status. A code that is not in the table is our own mistake,
// and answered like one.
func statusOf(code string) int {
	for _, row := range codes() {
		if row.code == code {
			return row.status
		}
	}
	return http.StatusInternalServerError
}

// codeOf names the refusals that HTTP itself knows, and that no tools.Error
// stands behind, by the nearest code.
func codeOf(status int) string {
	switch status {
	case http.StatusMisdirectedRequest:
		return tools.Forbidden
	case http.StatusTooManyRequests:
		return tools.Exhausted
	}
	for _, row := range codes() {
		if row.status == status {
			return row.code
		}
	}
	if status >= 400 && status < 500 {
		return tools.Invalid
	}
	return ""
}
