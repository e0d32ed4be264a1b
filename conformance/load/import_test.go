package load

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/program"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

const (
	importedContacts = 100_000
	importRounds     = 3
)

// BenchmarkImportCommand measures `mailhelm import contacts` on PostgreSQL, with a file of
// 100,000 contacts with five attributes each. The time includes the start and the end of
// the program. If the environment variable named by listmonkVariable is set, the benchmark
// alternates with listmonk's import of the same contacts on the same database server. Each
// import begins with an empty database.
func BenchmarkImportCommand(b *testing.B) {
	peer := os.Getenv(listmonkVariable)
	if peer == "" {
		b.Log("mailhelm alone: " + listmonkVariable + " names no listmonk to compare it with")
	}
	binary, file := program.Build(b), peopleFile(b, ourColumns, ourRow)
	theirs := peopleFile(b, listmonkColumns, listmonkRow)
	b.ResetTimer()
	for range b.N {
		var rates, peerRates []float64
		for range importRounds {
			rates = append(rates, importedContacts/importOurs(b, binary, file).Seconds())
			if peer != "" {
				peerRates = append(peerRates, importedContacts/importListmonk(b, peer, theirs).Seconds())
			}
		}
		b.ReportMetric(median(rates), "mailhelm-rows/s")
		if peer != "" {
			b.ReportMetric(median(peerRates), "listmonk-rows/s")
			b.ReportMetric(median(ratios(rates, peerRates)), "x-listmonk")
		}
	}
}

// peopleFile writes a CSV file of 100,000 contacts and returns its path. columns is the
// header line. row returns the line of contact n, in the format of the program that imports
// the file.
func peopleFile(b *testing.B, columns string, row func(n int) string) string {
	b.Helper()
	file, err := os.Create(filepath.Join(b.TempDir(), "people.csv"))
	if err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewWriter(file)
	fmt.Fprintln(lines, columns)
	for n := range importedContacts {
		fmt.Fprintln(lines, row(n))
	}
	if err := lines.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
	return file.Name()
}

const ourColumns = "email,plan,city,mrr,vip,signed_up"

func ourRow(n int) string {
	return fmt.Sprintf("person%d@example.com,pro,Rome,%d.5,true,2026-01-02", n, n%1000)
}

// importOurs imports the file with `mailhelm import contacts` into a new PostgreSQL
// database. It returns the duration of that command.
func importOurs(b *testing.B, binary, file string) time.Duration {
	b.Helper()
	url := enginetest.PostgresURL(b)
	where := []string{"--data", filepath.Join(b.TempDir(), "data"), "--database-url", url, "--json"}
	created, err := exec.Command(binary, append([]string{"admin", "org", "create", "acme"}, where...)...).Output()
	if err != nil {
		b.Fatalf("%v\n%s", err, created)
	}
	var org struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(created, &org); err != nil {
		b.Fatal(err)
	}
	defineAttributes(b, url, org.ID)
	started := time.Now()
	out, err := exec.Command(binary, append([]string{"import", "contacts", file}, where...)...).CombinedOutput()
	took := time.Since(started)
	var sum struct {
		Created int `json:"created"`
	}
	if err == nil {
		err = json.Unmarshal(out, &sum)
	}
	if err != nil || sum.Created != importedContacts {
		b.Fatalf("%v\n%s", err, out)
	}
	return took
}

func defineAttributes(b *testing.B, url, orgID string) {
	b.Helper()
	db := storagetest.Open(b, storage.Config{URL: url, MaxConns: 2})
	now := core.SystemClock()
	for name, kind := range map[string]attributes.Type{
		"plan": attributes.String, "city": attributes.String, "mrr": attributes.Number,
		"vip": attributes.Bool, "signed_up": attributes.Datetime,
	} {
		a := attributes.Attribute{ID: core.NewID(), Name: name, Type: kind, Origin: core.ManagedOrigin, CreatedAt: now, UpdatedAt: now}
		if err := db.Attributes().InsertAttribute(b.Context(), orgID, a); err != nil {
			b.Fatal(err)
		}
	}
}
