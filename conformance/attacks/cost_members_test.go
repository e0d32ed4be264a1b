package attacks_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// Every wrong member becomes a validation error of some 800 bytes before all but
// twenty are thrown away: 1 MiB of input takes 150 MB.
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
