package load

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// profileFolder is the folder for processor profiles; "" for none.
var profileFolder string

func init() {
	flag.StringVar(&profileFolder, "load.profiles", "", "write a processor profile of each operation to this `folder`, instead of comparing with "+floorsFile)
}

const (
	// profileTime is for how long an operation is profiled, and profileCalls for how many calls at
	// least. One with the number of a call in its path has exactly so many, because it changes what
	// calls of other operations created.
	profileTime  = 2 * time.Second
	profileCalls = 400
	// profileHours is the number of profiled calls of an operation of which few calls an hour are
	// allowed. Each is in an hour of its own.
	profileHours = 100
)

// timePart is a part of a call's processor time.
type timePart string

// The parts, in the order of the table.
const (
	httpPart    timePart = "HTTP server"
	jsonPart    timePart = "JSON"
	sqlitePart  timePart = "SQLite"
	driverPart  timePart = "driver and rows"
	accountPart timePart = "account"
	ownPart     timePart = "Mailhelm"
	runtimePart timePart = "scheduler and collector"
	clientPart  timePart = "client" // not of the call
)

var timeParts = []timePart{httpPart, jsonPart, sqlitePart, driverPart, accountPart, ownPart, runtimePart}

// owners has the parts by the beginnings of the names of functions, the more special ones first.
// Functions of other packages, such as strings and runtime, belong to the part that called them.
var owners = []struct {
	name string
	part timePart
}{
	{"github.com/mailhelm/mailhelm/conformance/", clientPart},
	{"github.com/mailhelm/mailhelm/storage/", driverPart},
	{"github.com/mailhelm/mailhelm/", ownPart},
	{"modernc.org/sqlite/lib.", sqlitePart},
	{"modernc.org/sqlite.", driverPart},
	{"github.com/lib/pq.", driverPart},
	{"github.com/jmoiron/sqlx", driverPart},
	{"database/sql.", driverPart},
	{"encoding/json", jsonPart},
	{"net/http.", httpPart},
	{"github.com/gin-gonic/gin.", httpPart},
}

// account is the beginning of the names of functions of the simulated sending account. All that
// they call belongs to it, its own database as well.
const account = "github.com/mailhelm/mailhelm/core/sending/simulator."

// partOf returns the part to which a stack belongs, whose functions begin with the innermost one.
func partOf(stack []string) timePart {
	found := runtimePart
	for _, function := range stack {
		if strings.HasPrefix(function, account) {
			return accountPart
		}
		for _, o := range owners {
			if found == runtimePart && strings.HasPrefix(function, o.name) {
				found = o.part
			}
		}
	}
	return found
}

// profileOperations writes a processor profile of each of the most used operations on both
// databases, and prints which parts of the program the time is for. It does not contain the time
// of the PostgreSQL server, which is another process.
func profileOperations(b *testing.B) {
	b.Helper()
	for _, database := range []string{"sqlite", "postgres"} {
		b.Run(database, func(b *testing.B) {
			address := ""
			if database == "postgres" {
				address = enginetest.PostgresURL(b)
			}
			p := startMeasured(b, address)
			fmt.Fprintf(os.Stdout, "\n| %s | µs |", p.DB.Engine())
			for _, s := range timeParts {
				fmt.Fprintf(os.Stdout, " %s |", s)
			}
			fmt.Fprintf(os.Stdout, "\n|---|--:|%s\n", strings.Repeat("--:|", len(timeParts)))
			eachOperation(b, p, func(op operation, to *connection, request func(i int) []byte) {
				profile(b, p, database, op, to, request)
			})
		})
	}
}

// profile writes the processor profile of an operation and prints its parts, in percent.
func profile(b *testing.B, p *product.Product, database string, op operation, to *connection, request func(i int) []byte) {
	b.Helper()
	calls := 0
	call := func() {
		if op.limited {
			p.Clock.Advance(time.Hour)
		}
		if err := to.send(request(calls)); err != nil {
			b.Fatal(err)
		}
		calls++
	}
	for range warming {
		call()
	}
	name := filepath.Join(profileFolder, database+"-"+strings.NewReplacer(" ", "-", ",", "").Replace(op.name)+".pprof")
	file, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // the profile is read below
	if err := pprof.StartCPUProfile(file); err != nil {
		b.Fatal(err)
	}
	defer pprof.StopCPUProfile()
	least, longest := warming+profileCalls, profileTime
	if op.limited {
		least = warming + profileHours
	}
	if op.limited || strings.Contains(op.path, "%d") {
		longest = 0
	}
	for began := time.Now(); calls < least || time.Since(began) < longest; {
		call()
	}
	pprof.StopCPUProfile()
	times := partsOf(b, name)
	var all time.Duration
	for _, s := range timeParts {
		all += times[s]
	}
	fmt.Fprintf(os.Stdout, "| `%s` | %d |", op.name, all.Microseconds()/int64(calls-warming))
	for _, s := range timeParts {
		fmt.Fprintf(os.Stdout, " %d |", (100*times[s]+all/2)/max(all, 1))
	}
	fmt.Fprintln(os.Stdout)
}

// partsOf returns the processor time of each part of a profile.
func partsOf(b *testing.B, file string) map[timePart]time.Duration {
	b.Helper()
	out, err := exec.Command("go", "tool", "pprof", "-symbolize=none", "-traces", file).Output()
	if err != nil {
		b.Fatalf("go tool pprof %s: %v", file, err)
	}
	times := map[timePart]time.Duration{}
	var stack []string
	var took time.Duration
	end := func() {
		if stack != nil {
			times[partOf(stack)] += took
		}
		stack = nil
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		// A line of dashes precedes each stack. The time is before the first function.
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "---") {
			end()
			continue
		}
		if value, err := time.ParseDuration(fields[0]); err == nil && len(fields) > 1 {
			end()
			took, fields = value, fields[1:]
			stack = []string{}
		}
		if stack != nil {
			stack = append(stack, fields[0])
		}
	}
	end()
	return times
}
