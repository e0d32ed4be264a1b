package sending_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/sending"
)

func TestPageToken(t *testing.T) {
	t.Parallel()
	for _, id := range []int64{1, 2, 255, 256, 1 << 40, math.MaxInt64} {
		token := sending.EncodePageToken("org", id)
		got, err := sending.DecodePageToken("org", token)
		if err != nil || got != id {
			t.Errorf("the token of %d gives %d, %v", id, got, err)
		}
		if _, err := sending.DecodePageToken("other", token); err == nil {
			t.Errorf("another organization may use the token of %d", id)
		}
	}
}

// FuzzPageToken checks that DecodePageToken fails with Invalid for every token except those
// that EncodePageToken returns.
func FuzzPageToken(f *testing.F) {
	f.Add("org", sending.EncodePageToken("org", 1))
	f.Add("org", sending.EncodePageToken("org", math.MaxInt64))
	f.Add("org", sending.EncodePageToken("org", 7)+"\n")
	f.Add("", "AAAAAAAAAAAAAAAA")
	f.Add("org", "")
	f.Fuzz(func(t *testing.T, orgID, token string) {
		id, err := sending.DecodePageToken(orgID, token)
		if err != nil {
			if failure, ok := errors.AsType[*sending.Failure](err); !ok || failure.Kind != sending.Invalid {
				t.Fatalf("%q is refused with %v", token, err)
			}
			return
		}
		if token != "" && sending.EncodePageToken(orgID, id) != token {
			t.Fatalf("%q is taken for the token of %d", token, id)
		}
	})
}

func TestPreferences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]map[string]sending.Subscription{
		"":             {},
		"+news":        {"news": sending.OptIn},
		"-a +b -c_d-e": {"a": sending.OptOut, "b": sending.OptIn, "c_d-e": sending.OptOut},
	} {
		got := sending.DecodePreferences(text)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
		for range 20 { // the order of maps varies
			if back := sending.EncodePreferences(got); back != text {
				t.Errorf("%q comes back as %q", text, back)
			}
		}
	}
}

// FuzzPreferences checks that DecodePreferences does not panic for any text, such as the
// text of a damaged file.
func FuzzPreferences(f *testing.F) {
	f.Add("+news -offers")
	f.Add("  + -")
	f.Fuzz(func(t *testing.T, text string) {
		if got := sending.DecodePreferences(text); len(got) > strings.Count(text, " ")+1 {
			t.Fatalf("%q holds %d choices", text, len(got))
		}
	})
}
