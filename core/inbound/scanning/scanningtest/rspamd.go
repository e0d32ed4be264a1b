package scanningtest

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// MaxSpamSize is the largest message in bytes that the tests' rspamd accepts.
const MaxSpamSize = 1 << 20

// SubjectFor returns a subject to which the tests' rspamd gives the score, with the symbol
// [ScoreSymbol]. The score is one of the keys of the thresholds below: 0 is "no action", 4
// "greylist", 6 "add header", 8 "rewrite subject" and 15 "reject".
func SubjectFor(score int) string { return "rspamd-score-" + strconv.Itoa(score) + "." }

// ScoreSymbol returns the symbol that rspamd reports for [SubjectFor].
func ScoreSymbol(score int) string { return "SUBJECT_SCORE_" + strconv.Itoa(score) }

// GTUBE returns the line that spam filters agreed to take for spam. It is put together when
// the test runs, so that no filter takes this source file for spam.
func GTUBE() string {
	return strings.Join([]string{"XJS*C4JDBQADN1.NSBN3*2IDNEN*", "STANDARD-ANTI-UBE-TEST-EMAIL*C.34X"}, "GTUBE-")
}

// Rspamd is a running rspamd. It listens on a port of the loopback.
type Rspamd struct {
	scanner
	URL *url.URL
	// names is the socket to which rspamd sends its DNS queries. It answers none.
	names   net.PacketConn
	queries atomic.Int64
}

// StartRspamd starts an rspamd that ends with the test. If rspamd is not installed the test
// is skipped, or fails if CI is "true".
func StartRspamd(tb testing.TB) *Rspamd {
	tb.Helper()
	require(tb, "rspamd", "rspamd")
	r := &Rspamd{scanner: scanner{program: "rspamd", ready: "starting normal process", dir: enginetest.Folder(tb)}}
	r.args = []string{"--no-fork", "--config=" + r.dir + "/rspamd.conf"}
	if os.Getuid() == 0 {
		r.args = append(r.args, "--insecure") // as root, it would want the name of another user
	}
	var config net.ListenConfig
	names, err := config.ListenPacket(tb.Context(), "udp4", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("scanningtest: rspamd: %v", err)
	}
	r.names = names
	tb.Cleanup(func() { _ = names.Close() })
	go r.countQueries()
	for range startAttempts {
		if err = r.configure(tb); err != nil {
			break
		}
		if err = r.start(); err == nil {
			break
		}
	}
	if err != nil {
		tb.Fatalf("scanningtest: rspamd: %v", err)
	}
	tb.Cleanup(r.Stop)
	tb.Logf("rspamd started in %v", r.Startup)
	return r
}

// Start starts the scanner again after Stop, at the same address.
func (r *Rspamd) Start(tb testing.TB) {
	tb.Helper()
	if err := r.start(); err != nil {
		tb.Fatalf("scanningtest: rspamd: %v", err)
	}
}

// Queries returns the number of DNS queries that rspamd has sent.
func (r *Rspamd) Queries() int { return int(r.queries.Load()) }

func (r *Rspamd) countQueries() {
	var query [512]byte
	for {
		if _, _, err := r.names.ReadFrom(query[:]); err != nil {
			return
		}
		r.queries.Add(1)
	}
}

// configure writes the configuration.
func (r *Rspamd) configure(tb testing.TB) error {
	port, err := freePort(tb)
	if err != nil {
		return err
	}
	r.URL = &url.URL{Scheme: "http", Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	var symbols, rules strings.Builder
	for _, score := range []int{4, 6, 8, 15} {
		fmt.Fprintf(&symbols, "\t%s { weight = %d; }\n", ScoreSymbol(score), score)
		fmt.Fprintf(&rules, "\t%s = \"Subject=/%s/H\";\n", ScoreSymbol(score), strings.ReplaceAll(SubjectFor(score), ".", "[.]"))
	}
	// The list of top-level domains of the distribution would take seconds to compile.
	if err := r.write("domains.dat", "com\nnet\norg\ntest\n"); err != nil {
		return err
	}
	return r.write("rspamd.conf", fmt.Sprintf(rspamdConfiguration,
		r.dir, r.names.LocalAddr(), MaxSpamSize, r.URL.Host, symbols.String(), rules.String()))
}

// rspamdConfiguration has places for the folder, the name server, the largest message, the
// address, and the symbols and rules. The only filter is regexp: no module that uses the
// network is loaded.
const rspamdConfiguration = `options {
	filters = "regexp";
	dns { nameserver = ["%[2]s"]; timeout = 1s; retransmits = 1; }
	max_message = %[3]d;
	task_timeout = 8s;
	url_tld = "%[1]s/domains.dat";
	disable_hyperscan = true;
	local_addrs = [];
	tempdir = "%[1]s";
	pidfile = "%[1]s/rspamd.pid";
	cache_file = "%[1]s/symbols.cache";
	history_file = "%[1]s/history";
	hs_cache_dir = "%[1]s/";
	stats_file = "%[1]s/stats.ucl";
	control_socket = "%[1]s/control.sock mode=0600";
}
logging { type = "console"; level = "info"; color = false; }
worker "normal" { bind_socket = "%[4]s"; count = 1; mime = true; }
actions { greylist = 4; add_header = 6; rewrite_subject = 8; reject = 15; }
group "tests" { symbols {
%[5]s} }
regexp {
%[6]s}
`
