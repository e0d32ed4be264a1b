package report

import "time"

// longestPeriod is a day, and an hour for the change of the clocks.
const longestPeriod = 25 * time.Hour

// latest bounds times: the year 9999 is the last that RFC 3339 can write.
var latest = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// finish checks the report after its end.
func (p *parser) finish() {
	r := p.report
	begin, end := time.Unix(int64(p.begin), 0).UTC(), time.Unix(int64(p.end), 0).UTC()
	switch {
	case p.begin == 0 || p.end == 0 || end.Before(begin) || end.After(latest):
		p.warn(InvalidPeriod, nil)
	case end.Sub(begin) > longestPeriod:
		p.warn(LongPeriod, []byte(end.Sub(begin).String()))
		r.Begin, r.End = begin, end
	default:
		r.Begin, r.End = begin, end
	}
	if r.Policy.Domain == "" {
		p.warn(MissingDomain, nil)
	}
	if r.ID == "" {
		p.warn(MissingID, nil)
	}
}
