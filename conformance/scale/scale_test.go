package scale

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/goldentest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the tables of the page")

// TestGoldenPage checks that the page has the tables of this package.
func TestGoldenPage(t *testing.T) {
	t.Parallel()
	page := filepath.Join("..", "..", "core", "doc", "scale.md")
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	committed := strings.ReplaceAll(string(content), "\r\n", "\n")
	derived := committed
	for name, table := range map[string]string{"costs": costTable(), "needs": needsTable(), "tables": placementTable()} {
		before, rest, found := strings.Cut(derived, "<!-- begin "+name+" -->\n")
		_, after, ends := strings.Cut(rest, "<!-- end "+name+" -->")
		if !found || !ends {
			t.Fatalf("the page lacks the markers of %s", name)
		}
		derived = before + "<!-- begin " + name + " -->\n" + table + "<!-- end " + name + " -->" + after
	}
	if *update {
		const readable = 0o644
		if err := goldentest.Write(page, []byte(derived), readable); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(committed, derived); diff != "" {
		t.Errorf("core/doc/scale.md is old; run go test ./conformance/scale -run TestGolden -update\n%s", diff)
	}
}

// TestBytes measures the bytes of each unit on both databases, and compares them with Costs. A
// new index on one of the tables changes them by more than the tolerance.
func TestBytes(t *testing.T) {
	t.Parallel()
	units := 2 * chunk
	if enginetest.Full() {
		units = 100 * chunk
	}
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		org, err := newOrg(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range Costs {
			if c.Rows == 0 {
				continue
			}
			got, err := measure(t.Context(), db, org, c.Unit, units)
			if err != nil {
				t.Fatal(err)
			}
			want := c.Postgres
			if db.Engine() == "sqlite" {
				want = c.SQLite
			}
			t.Logf("%s: %d and %d bytes", c.Unit, got.Heap, got.Indexes)
			if !near(got.Heap, want.Heap) || !near(got.Indexes, want.Indexes) {
				t.Errorf("%s: %d and %d bytes, Costs has %d and %d: measure again at full length (see the package comment)",
					c.Unit, got.Heap, got.Indexes, want.Heap, want.Indexes)
			}
		}
	})
}

// TestBytesNoticeAnIndex checks that the tolerance of TestBytes is small enough: an index more
// on activities is outside of it.
func TestBytesNoticeAnIndex(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	if _, err := db.Writer().ExecContext(t.Context(), `CREATE INDEX more ON activities (org_id, name)`); err != nil {
		t.Fatal(err)
	}
	got, err := measure(t.Context(), db, "0190a000-0000-7000-8000-000000000001", Activity, 2*chunk)
	if err != nil {
		t.Fatal(err)
	}
	if want := costOf(Activity).SQLite.Heap; near(got.Heap, want) {
		t.Errorf("%d bytes with an index more, %d without", got.Heap, want)
	}
}

// tolerance is the share by which a measurement of some thousand units may differ from one of
// 100,000.
const tolerance = 0.07

func near(got, want int64) bool {
	return math.Abs(float64(got-want)) <= tolerance*float64(want)
}

// TestRowsOfUnits checks that the number of rows of each unit is that of its statements.
func TestRowsOfUnits(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	org, err := newOrg(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Costs {
		var before, after int64
		read := func(into *int64) {
			if err := db.Writer().QueryRowContext(t.Context(), `SELECT total_changes()`).Scan(into); err != nil {
				t.Fatal(err)
			}
		}
		read(&before)
		if err := write(t.Context(), db, org, c.Unit, 1, 10); err != nil {
			t.Fatal(err)
		}
		read(&after)
		if after-before != 10*c.Rows {
			t.Errorf("%s: %d rows for 10 units, Costs has %d for each", c.Unit, after-before, c.Rows)
		}
	}
}

// TestStatementsAreThoseOfTheFloors checks the numbers of statements. "make bench" counts those
// in floors.json again and fails if they grow.
func TestStatementsAreThoseOfTheFloors(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join("..", "load", "floors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var floors map[string]map[string]struct {
		Statements int64 `json:"statements"`
	}
	if err := json.Unmarshal(content, &floors); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, c := range Costs {
		if c.Call == "" {
			continue
		}
		compared++
		if floor, ok := floors["postgres"][c.Call]; !ok || floor.Statements != c.Statements {
			t.Errorf("%s: %d statements of %s, floors.json has %d", c.Unit, c.Statements, c.Call, floor.Statements)
		}
	}
	if compared < 3 {
		t.Errorf("%d calls compared", compared)
	}
}

// TestNeedsGrowWithTheLoad checks the arithmetic of the model by its proportions.
func TestNeedsGrowWithTheLoad(t *testing.T) {
	t.Parallel()
	small, large := Compute(LoadOf(100, 1e7, 1e8)), Compute(LoadOf(10_000, 1e9, 1e10))
	const hundred = 100
	for name, pair := range map[string][2]float64{
		"bytes": {small.Bytes, large.Bytes}, "rows": {small.RowsPeak, large.RowsPeak}, "calls": {small.CallsPeak, large.CallsPeak},
		"server": {small.ServerProcessors, large.ServerProcessors}, "database": {small.DatabaseProcessors, large.DatabaseProcessors},
	} {
		if math.Abs(pair[1]/pair[0]-hundred) > 0.01 {
			t.Errorf("%s: %g and %g", name, pair[0], pair[1])
		}
	}
	sum := 0.0
	for _, bytes := range large.BytesOf {
		sum += bytes
	}
	events := float64(large.Load.MessageEvents + large.Load.Activities)
	if math.Abs(sum-large.Bytes) > 1 || events != 1e10 || large.Disk <= large.Bytes || large.Nodes < 2 || small.Nodes != 1 {
		t.Errorf("%+v", large)
	}
}
