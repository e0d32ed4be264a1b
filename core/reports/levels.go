package reports

// Level is how a bounce or complaint rate compares with the rate at which the provider
// reviews an account.
type Level int

// The levels. A rate is near the review rate from four fifths of it on. A rate is
// Unremarkable, whatever its value, if fewer than [MinMessages] messages were sent, or if
// there was only one bounce or complaint.
const (
	Unremarkable Level = iota
	NearReview
	AtReview
)

// MinMessages is the number of messages from which on pages show and judge a rate. With
// fewer, a single bounce would be more than 1 %. Rates of whole accounts are reliable from
// a larger number on; see [LowVolume].
const MinMessages = 100

// minTrouble is the number of bounces or complaints from which on their rate is judged. One
// complaint alone exceeds the review rate with fewer than 1,000 messages.
const minTrouble = 2

// BounceLevel returns the level of the bounce rate.
func (c Counts) BounceLevel() Level { return levelOf(c.Bounced, c.Sent, bounceReview) }

// ComplaintLevel returns the level of the complaint rate.
func (c Counts) ComplaintLevel() Level { return levelOf(c.Complained, c.Sent, complaintReview) }

// levelOf returns the level of part/whole. review is the review rate in thousandths.
func levelOf(part, whole, review int64) Level {
	switch {
	case whole < MinMessages || part < minTrouble:
		return Unremarkable
	case reaches(part, whole, review):
		return AtReview
	case reaches(5*part, 4*whole, review):
		return NearReview
	}
	return Unremarkable
}
