package frame

import (
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// The layouts, for [time.Time.Format], of dates and times on pages. All times are in UTC.
const (
	DateLayout   = time.DateOnly
	MomentLayout = "2006-01-02 15:04 UTC"
)

// PlainName returns a name without invisible characters and without characters that change
// the order of the text around it.
func PlainName(name string) string { return core.OnlyVisible(name) }

// Quoted returns a text of another person in quotation marks, as [PlainName] writes it.
func Quoted(text string) string { return "“" + PlainName(text) + "”" }
