package whole

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// journal is a writer that keeps the product's log in memory.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

// TestHostileArgumentsAreQuotedOrNotRepeated sends one hostile text of each kind in every
// text member of every operation's input, and as an unknown member. It sends every text as
// the name of a tool and of a method. No answer may be a server error or contain the text
// unquoted, and the log must not contain the text. If MAILHELM_TEST_FULL is 1, it also
// sends every text to every operation.
func TestHostileArgumentsAreQuotedOrNotRepeated(t *testing.T) {
	t.Parallel()
	log := new(journal)
	t.Run("product", func(t *testing.T) {
		w := newWorld(t, product.Start(t, product.Options{Log: log}))
		kinds, turn := byKind(storable(t)), 0
		for _, s := range subjects() {
			for i := range s.hostilePlaces(t) {
				for _, texts := range kinds {
					w.sendHostile(t, s, texts[turn%len(texts)], i)
				}
				turn++
			}
		}
		for i, h := range storable(t) {
			for _, s := range subjects() {
				if enginetest.Full() {
					w.sendHostile(t, s, h, i)
				}
			}
			for what, got := range map[string]answer{
				"unknown tool":   w.own.callTool(t, h.text, map[string]any{}),
				"unknown method": w.own.rpc(t, h.text, map[string]any{}),
			} {
				if got.status >= 500 {
					t.Errorf("%s %s: %d %s", what, h, got.status, got.body)
				}
				checkVoice(t, what+" "+h.String(), got, h)
			}
		}
	})
	checkLog(t, log.text.String(), storable(t))
}

// byKind returns the texts in groups of the same kind. The groups are in the order in which
// their kinds first occur.
func byKind(texts []hostile) [][]hostile {
	var kinds [][]hostile
	at := map[string]int{}
	for _, h := range texts {
		if _, known := at[h.kind]; !known {
			at[h.kind] = len(kinds)
			kinds = append(kinds, nil)
		}
		kinds[at[h.kind]] = append(kinds[at[h.kind]], h)
	}
	return kinds
}

// hostilePlaces returns the members of the input that accept text, and the name of an
// unknown member.
func (s subject) hostilePlaces(t *testing.T) []string {
	t.Helper()
	return append(nodeOf(t, s.input).texts(""), "a member that there is not")
}

func (w world) sendHostile(t *testing.T, s subject, h hostile, turn int) {
	t.Helper()
	beside := func(string) string { return w.p.Contact }
	places := s.hostilePlaces(t)
	place := places[turn%len(places)]
	arguments, ok := nodeOf(t, s.input).with(place, h.text, beside).(map[string]any)
	if !ok || turn%len(places) == len(places)-1 {
		arguments = s.pathArguments(t)
		arguments[h.text] = "x"
	}
	if strings.Contains(s.route.Path, "{email}") && arguments["email"] == "" {
		return
	}
	got := w.own.call(t, s, arguments)
	if status, _ := got.outcome(); status >= 500 {
		t.Errorf("%s with %s at %q: %d %s", s.name(), h, place, status, got.body)
	}
	checkVoice(t, s.name()+" with "+h.String()+" at "+place, got, h)
}

// checkLog checks that each line of the log is JSON. No line may contain an invisible
// character, or one of the sentences in texts.
func checkLog(t *testing.T, log string, texts []hostile) {
	t.Helper()
	if strings.Count(log, "\n") < 1000 {
		t.Errorf("the log has only %d lines", strings.Count(log, "\n"))
	}
	var held strings.Builder
	for line := range strings.Lines(log) {
		var fields any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("not a line of JSON: %v: %.300q", err, line)
		}
		inLine := map[string]bool{}
		textsIn(fields, inLine)
		for text := range inLine {
			held.WriteString(text + "\n")
		}
	}
	all := held.String()
	if r, found := findConcealed(all); found {
		t.Errorf("the log holds %U", r)
	}
	for _, h := range texts {
		for _, piece := range h.sentences {
			if strings.Contains(all, piece) {
				t.Errorf("the log holds %q of %s", piece, h)
			}
		}
	}
}
