package attacks_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestManyWrongMembersCostNoMemory checks the memory that one request with 120,000 invalid
// members allocates; the limit is costMemory. If the schema library built an error of some
// 800 bytes for each member, the request would allocate about 150 MB in total, although an
// answer lists only twenty errors.
func TestManyWrongMembersCostNoMemory(t *testing.T) { //nolint:paralleltest // it measures what the process allocates
	p := product.Start(t, product.Options{})
	var choices strings.Builder
	for i := range 120000 {
		choices.WriteString(`,"` + strconv.FormatInt(int64(i), 36) + `":1`)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	caller{p, p.Live.APIKey}.rest(t, "PUT", "/v1/contacts/x@example.com", `{"topic_preferences":{`+choices.String()[1:]+`}}`).want(t, 422)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > costMemory {
		t.Errorf("one call allocated %d MB", used>>20)
	}
}
