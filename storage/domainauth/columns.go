package domainauth

import (
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
)

// The dispositions and outcomes whose combinations are the columns of figures.
var (
	dispositions = []string{"none", "quarantine", "reject"}
	outcomes     = []string{"both", "dkim", "spf", "fail", "relayed"}
)

// columns has the names of the columns of figures, in the order of the tables.
var columns = func() []string {
	var all []string
	for _, d := range dispositions {
		for _, o := range outcomes {
			all = append(all, d+"_"+o)
		}
	}
	return all
}()

// Sums of columns in SQL, for rows of one table.
var (
	sumMessages = sumOf(dispositions, outcomes)
	sumAligned  = sumOf(dispositions, []string{"both", "dkim", "spf"})
	sumSPF      = sumOf(dispositions, []string{"both", "spf"})
	sumDKIM     = sumOf(dispositions, []string{"both", "dkim"})
	sumFail     = sumOf(dispositions, []string{"fail"})
	sumRelayed  = sumOf(dispositions, []string{"relayed"})
)

// sumOf returns the SQL sum of the columns with these dispositions and outcomes.
func sumOf(dispositions, outcomes []string) string {
	var names []string
	for _, name := range columns {
		d, o, _ := strings.Cut(name, "_")
		if slices.Contains(dispositions, d) && slices.Contains(outcomes, o) {
			names = append(names, name)
		}
	}
	return "(" + strings.Join(names, " + ") + ")"
}

// total returns an SQL aggregate as a bigint. PostgreSQL adds bigint as numeric.
func total(expression string) string { return "CAST(SUM(" + expression + ") AS bigint)" }

const daySeconds = 24 * 60 * 60

// dayNumber returns a UTC day as its number since 1970.
func dayNumber(t time.Time) int64 { return figures.DayOf(t).Unix() / daySeconds }

// dayTime returns the midnight at which a day begins.
func dayTime(n int64) time.Time { return time.Unix(n*daySeconds, 0).UTC() }

// daySpan returns the numbers of the first day of a window and of its end.
func daySpan(w domainauth.Days) (from, to int64) { //nolint:nonamedreturns // says which is which
	return dayNumber(w.From), dayNumber(w.To)
}

// monthNumber returns the number of the first day of the month of a day.
func monthNumber(day int64) int64 {
	t := dayTime(day)
	return day - int64(t.Day()) + 1
}

// nextMonth returns the number of the first day of the month after the month of a day.
func nextMonth(day int64) int64 { return dayNumber(dayTime(monthNumber(day)).AddDate(0, 1, 0)) }
