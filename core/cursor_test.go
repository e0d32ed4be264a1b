package core_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"pgregory.net/rapid"
)

func TestCursorRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		// Sort keys are always valid UTF-8 without NUL.
		keys := rapid.SliceOfN(rapid.StringMatching(`[^\x00]{0,40}`), 1, 4).Draw(t, "keys")
		filter := rapid.String().Draw(t, "filter")
		cursor := core.EncodeCursor(filter, keys...)
		got, err := core.DecodeCursor(filter, cursor, len(keys))
		if err != nil || !slices.Equal(got, keys) {
			t.Fatalf("%v, %v, want %v", got, err, keys)
		}
		if _, err := core.DecodeCursor(filter+"x", cursor, len(keys)); err == nil {
			t.Fatal("a cursor fitted other filters")
		}
		if _, err := core.DecodeCursor(filter, cursor, len(keys)+1); err == nil {
			t.Fatal("a cursor fitted another list")
		}
	})
}

func TestNoCursorIsTheStart(t *testing.T) {
	t.Parallel()
	if keys, err := core.DecodeCursor("f", "", 2); keys != nil || err != nil {
		t.Errorf("%v, %v", keys, err)
	}
}

func FuzzDecodeCursor(f *testing.F) {
	good := core.EncodeCursor("f", "1", "2")
	for _, seed := range []string{
		good, good + "=", good[:len(good)-1], "", "%", strings.Repeat("A", 1025),
		base64.RawURLEncoding.EncodeToString([]byte(`{"f":"x","k":["1","2"],"k":[]}`)),
		base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("[", 500))),
		base64.RawURLEncoding.EncodeToString([]byte(`{"F":"x","K":["1","2"]}`)),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		keys, err := core.DecodeCursor("f", s, 2)
		if err != nil {
			if e := core.AsError(err); e.Code != core.CodeValidationFailed || e.Fields[0].Field != "cursor" {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		if s != "" && len(keys) != 2 {
			t.Fatalf("%q gave %v", s, keys)
		}
	})
}
