package predicate

import "time"

// NextChange returns a time at which the result for this subject may change by the passing of
// time alone. ok is false if only changes of data can change it.
func (c *Checked) NextChange(_ Subject, now time.Time) (at time.Time, ok bool) {
	if c.EvalClass() == Incremental {
		return time.Time{}, false
	}
	return now.Add(15 * time.Minute), true
}
