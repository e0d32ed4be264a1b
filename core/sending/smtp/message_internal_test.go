package smtp

import (
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// Compose is compose for the tests of this package.
func Compose(m sending.Message, now time.Time) (string, error) {
	l, err := compose(m, now)
	return string(l.data), err
}
