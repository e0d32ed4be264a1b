package rspamd

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/scanning"
)

// maxSymbols limits the symbols of a finding.
const maxSymbols = 100

// answer has the members of the JSON answer that matter. Symbols is keyed by the names.
type answer struct {
	Action  string              `json:"action"`
	Score   float64             `json:"score"`
	Symbols map[string]struct{} `json:"symbols"`
	Error   string              `json:"error"`
}

// errNoResult means that an answer is no result of a scan.
var errNoResult = errors.New("the answer is no result of a scan")

// verdicts has the verdict for each action of rspamd. Greylisting and soft rejects ask a
// sender to try again later, because nothing certain is known of the message.
var verdicts = map[string]inbound.Verdict{
	"no action":       inbound.Pass,
	"greylist":        inbound.Gray,
	"soft reject":     inbound.Gray,
	"add header":      inbound.Fail,
	"rewrite subject": inbound.Fail,
	"quarantine":      inbound.Fail,
	"discard":         inbound.Fail,
	"reject":          inbound.Fail,
}

// finding returns what the answer says. An action that an operator has defined is Gray: it is
// not "no action", and this program does not know what it means. It fails if the answer has
// no action.
func (a answer) finding() (inbound.Finding, error) {
	action := scanning.Printable(strings.ReplaceAll(a.Action, "_", " "))
	if action == "" {
		return inbound.Finding{}, errNoResult
	}
	verdict, known := verdicts[action]
	if !known {
		verdict = inbound.Gray
	}
	var symbols []string
	for _, name := range slices.Sorted(maps.Keys(a.Symbols)) {
		if len(symbols) < maxSymbols {
			symbols = append(symbols, scanning.Printable(name))
		}
	}
	return inbound.Finding{Verdict: verdict, Reason: action, Score: a.Score, Symbols: symbols}, nil
}
