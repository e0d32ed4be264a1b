package attacks_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// The maximum time and memory that one request of 1 MiB may take. A normal request takes
// less than a tenth of each limit. The rest allows for a slow machine on which other tests
// run too.
const (
	costTime   = time.Second
	costMemory = 100 << 20
)

// TestLongNumbersCostNoTime checks that numbers with a million digits are refused within a
// second. Schema validation compares numbers as exact fractions; without a limit on the
// digits, that takes seconds of processor time.
func TestLongNumbersCostNoTime(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	agent := caller{p, p.Token(t, p.MCPURL)}
	for name, number := range map[string]string{
		"digits":   strings.Repeat("3", 1000000),
		"fraction": strings.Repeat("3", 1000000) + "e-999999",
		"decimals": "0." + strings.Repeat("3", 1000000),
		"exponent": "1e999999",
	} {
		got := agent.tool(t, "lists_list", `{"limit":`+number+`}`)
		if failed, _ := got.failed(t); got.status == 200 && !failed {
			t.Errorf("%s: taken", name)
		}
		if got.took > costTime {
			t.Errorf("%s: one call took %v", name, got.took)
		}
	}
}

// TestManyMistakesCostNoMemory checks the memory that one request with up to 500,000
// invalid elements allocates; the limit is costMemory. If the schema library built an
// error of some 800 bytes for each element, that would be 400 MB, although an answer lists
// only twenty errors.
func TestManyMistakesCostNoMemory(t *testing.T) { //nolint:paralleltest // it measures what the process allocates
	p := product.Start(t, product.Options{})
	c := caller{p, p.Live.APIKey}
	var members strings.Builder
	for i := range 500_000 {
		fmt.Fprintf(&members, `,"%x":1`, i)
	}
	const contact, bundle = "PUT /v1/contacts/x@example.com", "POST /v1/import"
	for name, call := range map[string][2]string{
		"numbers for strings":       {contact, `{"lists":[1` + strings.Repeat(",1", 500000) + `]}`},
		"numbers for choices":       {contact, `{"topic_preferences":[1` + strings.Repeat(",1", 500000) + `]}`},
		"choices without topic":     {contact, `{"topic_preferences":[{}` + strings.Repeat(",{}", 340000) + `]}`},
		"numbers for files":         {bundle, `{"manifest":{},"files":{` + members.String()[1:] + `}}`},
		"unknown members":           {bundle, `{` + members.String()[1:] + `}`},
		"a manifest of many values": {bundle, `{"manifest":[1` + strings.Repeat(",1", 5_000_000) + `]}`},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		method, path, _ := strings.Cut(call[0], " ")
		c.rest(t, method, path, call[1]).want(t, 422)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > costMemory {
			t.Errorf("%s: one call allocated %d MB", name, used>>20)
		}
	}
}

// TestManyUnknownAttributesGiveAShortAnswer sends 80,000 unknown attributes. The answer
// lists at most twenty errors, so it must not exceed 64 KiB.
func TestManyUnknownAttributesGiveAShortAnswer(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	var attributes strings.Builder
	for i := range 80000 {
		fmt.Fprintf(&attributes, `,"%x":1`, i)
	}
	got := caller{p, p.Live.APIKey}.rest(t, "POST", "/v1/contacts",
		`{"email":"x@example.com","attributes":{`+attributes.String()[1:]+`}}`).want(t, 422)
	if len(got.body) > 64<<10 {
		t.Errorf("the answer has %d bytes and %d errors", len(got.body), len(got.problem(t).Errors))
	}
}
