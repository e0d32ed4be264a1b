package smtp

import (
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// Compose makes the function compose available to the tests of package smtp_test.
func Compose(m sending.Message, now time.Time) (string, error) {
	l, err := compose(m, now, new(buffers))
	return string(l.data), err
}
