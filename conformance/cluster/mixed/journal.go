package mixed

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Journal records what callers see, and what was killed. It is safe for concurrent use.
type Journal struct {
	mu       sync.Mutex
	answers  map[string]int // by what came
	failures []string
	took     []time.Duration // of successful requests
	// killed is the last part that was killed, kills counts them by part.
	killed string
	kills  map[string]int
	// succeeded is the time of the last success, gaps the longest time without one after the kill
	// of a part.
	succeeded time.Time
	gaps      map[string]time.Duration
	// downs has the times in which each API server did not run.
	downs [2][]span
}

// span is a time between two moments; a zero end is the present.
type span struct{ from, to time.Time }

// NewJournal returns an empty journal.
func NewJournal() *Journal {
	return &Journal{answers: map[string]int{}, kills: map[string]int{}, gaps: map[string]time.Duration{}, succeeded: time.Now()}
}

// Kill records that a part is killed now.
func (j *Journal) Kill(part string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.killed = part
	j.kills[part]++
}

// Down records that an API server is being killed, Up that it runs again.
func (j *Journal) Down(server int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.downs[server] = append(j.downs[server], span{from: time.Now()})
}

// Up is described at Down.
func (j *Journal) Up(server int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.downs[server][len(j.downs[server])-1].to = time.Now()
}

// Kills returns the number of kills.
func (j *Journal) Kills() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := 0
	for _, of := range j.kills {
		n += of
	}
	return n
}

// ok records a successful request that began at the given time.
func (j *Journal) ok(began time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := time.Now()
	j.answers["success"]++
	j.took = append(j.took, now.Sub(began))
	if gap := now.Sub(j.succeeded); j.killed != "" && gap > j.gaps[j.killed] {
		j.gaps[j.killed] = gap
	}
	j.succeeded = now
}

// again records a request that its caller repeats.
func (j *Journal) again(why string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.answers[why]++
}

// broken records a request to a server without an answer. That is a failure unless the server was
// killed while the request was made.
func (j *Journal) broken(server int, began time.Time, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, down := range j.downs[server] {
		// A new connection may still be refused just after the process has said that it is ready.
		if down.to.IsZero() || down.to.Add(50*time.Millisecond).After(began) {
			j.answers["connection error"]++
			return
		}
	}
	j.failures = append(j.failures, fmt.Sprintf("server %d, which was not killed, gives no answer: %v", server+1, err))
}

// fail records what must not happen.
func (j *Journal) fail(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.failures = append(j.failures, fmt.Sprintf(format, args...))
}

// Failures returns what must not have happened.
func (j *Journal) Failures() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.failures)
}

// Progress returns a line with the figures so far.
func (j *Journal) Progress() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return fmt.Sprintf("requests %v, kills %v, failures %d", j.answers, j.kills, len(j.failures))
}

// Figures returns the figures as lines of a table.
func (j *Journal) Figures() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var b strings.Builder
	total := 0
	for _, n := range j.answers {
		total += n
	}
	fmt.Fprintf(&b, "| requests | %d |\n", total)
	for _, what := range slices.Sorted(maps.Keys(j.answers)) {
		fmt.Fprintf(&b, "| %s | %d (%.3f %%) |\n", what, j.answers[what], 100*float64(j.answers[what])/float64(max(1, total)))
	}
	slices.Sort(j.took)
	if n := len(j.took); n > 0 {
		fmt.Fprintf(&b, "| p50, p99, longest successful request | %v, %v, %v |\n",
			j.took[n/2].Round(100*time.Microsecond), j.took[n*99/100].Round(time.Millisecond), j.took[n-1].Round(time.Millisecond))
	}
	for _, part := range slices.Sorted(maps.Keys(j.kills)) {
		fmt.Fprintf(&b, "| %s killed, longest time without a success after it | %d, %v |\n", part, j.kills[part], j.gaps[part].Round(time.Millisecond))
	}
	return b.String()
}
