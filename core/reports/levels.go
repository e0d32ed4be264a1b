package reports

// Level is how a bounce or complaint rate compares with the rate at which the provider
// reviews an account.
type Level int

// The levels. NearReview begins at four fifths of the review rate. A rate is Unremarkable,
// whatever its value, if fewer than [MinMessages] messages were sent, or if there was only
// one bounce or complaint.
const (
	Unremarkable Level = iota
	NearReview
	AtReview
)

// MinMessages is the minimum number of messages for which pages show and judge a rate. With
// fewer, a single bounce would be more than 1 %. Rates of whole accounts need more messages
// to be reliable; see [LowVolume].
const MinMessages = 100

// minTrouble is the minimum number of bounces or complaints for which their rate is judged.
// With fewer than 1,000 messages, one complaint alone exceeds the review rate.
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
