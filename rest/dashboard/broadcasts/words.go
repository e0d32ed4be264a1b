package broadcasts

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// state is the state of a broadcast in words, with the class of its mark.
type state struct{ Name, Mark string }

var states = map[broadcasts.State]state{
	broadcasts.Draft: {"Draft", "test"}, broadcasts.Scheduled: {"Scheduled", "live"}, broadcasts.Sending: {"Sending", "live"}, broadcasts.Sent: {"Sent", "good"},
	broadcasts.PartiallyFailed: {"Partially failed", "ended"}, broadcasts.Cancelled: {"Cancelled", "test"},
}

// stateOf returns the state of a broadcast in words. A pause hides the state.
func stateOf(s broadcasts.State, paused *broadcasts.Pause) state {
	switch {
	case paused == nil || s.IsOver():
		return states[s]
	case paused.Reason == broadcasts.PausedByFault:
		return state{"Could not start", "ended"}
	case paused.Reason == broadcasts.PausedByPerson:
		return state{"Paused", ""}
	}
	return state{"Waiting", ""}
}

// named is a thing with a link to its page. The path is "" if there is no page, or if the
// visitor may not open it.
type named struct{ Path, Name string }

// audienceWords are the names of the kinds of audiences in sentences.
var audienceWords = map[broadcasts.AudienceKind]string{broadcasts.List: "list", broadcasts.Segment: "segment"}

// audienceOf returns the list or segment of a broadcast. A deleted one has no name.
func (h *Room) audienceOf(ctx context.Context, v people.Visitor, t broadcasts.Target) (named, error) {
	found, err := h.Audiences.Audience(ctx, v.Org.ID, t.AudienceKind, t.AudienceID)
	if core.IsNotFound(err) {
		return named{Name: "a deleted or archived " + audienceWords[t.AudienceKind]}, nil
	}
	if err != nil {
		return named{}, err
	}
	return h.link(v, frame.Path+"/"+string(t.AudienceKind)+"s", found.ID, found.Name), nil
}

// link returns a link to a record of another room. area is the path of the room's list.
func (h *Room) link(v people.Visitor, area, id, name string) named {
	n := named{Name: frame.PlainName(name)}
	if h.MayOpen(v, area) {
		n.Path = area + "/" + url.PathEscape(id)
	}
	return n
}

// partOf says which part of the audience gets the broadcast, "" for the whole audience.
func partOf(s *broadcasts.Share) string {
	if s == nil {
		return ""
	}
	percent := strconv.FormatFloat(sizeOf(*s), 'f', -1, 64)
	if s.Rest {
		return "all but " + percent + " % of the members"
	}
	return percent + " % of the members"
}

// sizeOf returns the size of a share, rounded to whole percents.
func sizeOf(s broadcasts.Share) float64 {
	return math.Round(100 * (fraction(s.To) - fraction(s.From)))
}

// fraction returns the place of the end of an id among all of them, from 0 to 1. Three
// digits are precise enough for percents.
func fraction(suffix string) float64 {
	const digits = 4
	n, err := strconv.ParseUint(suffix[:min(digits, len(suffix))], 16, 32)
	if err != nil {
		return 0
	}
	return float64(n) / float64(uint(1)<<(4*digits))
}

// rateOf returns the rate of a broadcast in words.
func rateOf(perMinute int) string {
	if perMinute == 0 {
		return "as fast as the sending account allows"
	}
	return "at most " + frame.Quantity(int64(perMinute), "message", "messages") + " a minute"
}

// count returns a number with commas between thousands.
func count(n int) string { return core.WithCommas(n) }

// perSecond returns a number of messages in a number of seconds as a speed in words.
func perSecond(messages int, seconds float64) string {
	speed := strings.TrimSuffix(fmt.Sprintf("%.1f", float64(messages)/seconds), ".0")
	if speed == "1" {
		return "1 message a second"
	}
	return speed + " messages a second"
}
