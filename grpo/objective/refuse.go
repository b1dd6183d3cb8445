package objective

import (
	"fmt"

	"toolgym/tools"
)

// refuse is the error for a caller's mistake: where it is, what would be
// right there, and what is wrong with it.
func refuse(where, want, format string, args ...any) error {
	return &tools.Error{Code: tools.Invalid, Where: where, Message: fmt.Sprintf(format, args...), Want: want}
}
