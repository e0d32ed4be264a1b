package intake

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/figures"
)

// TestSupport checks when a source gets a lower classification, in every order of the days.
func TestSupport(t *testing.T) {
	t.Parallel()
	type seen struct {
		class figures.Classification
		day   int
	}
	for name, tc := range map[string]struct {
		days []seen
		want figures.Classification
	}{
		"one":            {[]seen{{figures.Unknown, 1}}, figures.Unknown},
		"the higher one": {[]seen{{figures.Unknown, 1}, {figures.Own, 1}, {figures.Spoofing, 1}}, figures.Own},
		"30 days later":  {[]seen{{figures.Authorised, 1}, {figures.Unknown, 31}, {figures.Authorised, 0}}, figures.Authorised},
		"31 days later":  {[]seen{{figures.Authorised, 1}, {figures.Unknown, 32}, {figures.Unknown, 3}}, figures.Unknown},
		"higher again":   {[]seen{{figures.Authorised, 1}, {figures.Unknown, 40}, {figures.Authorised, 41}}, figures.Authorised},
		"old and higher": {[]seen{{figures.Own, 1}, {figures.Spoofing, 20}, {figures.Unknown, 70}}, figures.Unknown},
	} {
		n := len(tc.days)
		for first := range n {
			for _, step := range []int{1, n - 1} {
				var s Support
				for i := range n {
					one := tc.days[(first+i*max(step, 1))%n]
					s = s.with(one.class, time.Unix(int64(one.day)*86400, 0))
				}
				if got := s.classification(); got != tc.want {
					t.Errorf("%s: from %d: %s, expected %s", name, first, got, tc.want)
				}
			}
		}
	}
}
