package predicate_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// remark matches the explanation on an example line, which two or more spaces separate from
// the example.
var remark = regexp.MustCompile(` {2,}.*$`)

// TestReferenceTeachesWhatIsTrue checks that each example of the reference compiles, that
// the reference names every word of the language, and that it has less than 2,000 bytes.
func TestReferenceTeachesWhatIsTrue(t *testing.T) {
	t.Parallel()
	if len(predicate.Reference) >= 2000 {
		t.Errorf("the reference has %d bytes", len(predicate.Reference))
	}
	taught := schema
	taught.Attributes = map[string]predicate.AttributeType{
		"plan": {Type: predicate.String}, "mrr": {Type: predicate.Number}, "vip": {Type: predicate.Bool},
		"renews_at": {Type: predicate.Datetime}, "signed_up": {Type: predicate.Datetime},
	}
	taught.Segments = map[string]string{"churned": "segment-2"}
	examples := 0
	for line := range strings.Lines(predicate.Reference) {
		example, indented := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "    ")
		if !indented {
			continue
		}
		examples++
		if _, err := predicate.Compile(remark.ReplaceAllString(example, ""), taught); err != nil {
			t.Errorf("%s: %v", example, err)
		}
	}
	if examples < 14 {
		t.Errorf("only %d examples were found", examples)
	}
	for word := range strings.FieldsSeq(`send delivery open click bounce complaint reject delivery_delay subject template sender_domain url type sub_type processing_ms
		path referrer title utm_source utm_medium utm_campaign sum avg min max last first count exists where within between starts ends contains known unknown subscribed opted unsubscribed suppressed list segment`) {
		if !strings.Contains(predicate.Reference, word) {
			t.Errorf("the reference does not name %s", word)
		}
	}
}
