package load

import (
	"cmp"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// databaseCalls counts what the servers of this process ask of their databases.
//
// A statement is an execution of one SQL statement, except BEGIN, COMMIT, ROLLBACK and what
// only prepares or closes a statement. Statements of the simulated account are not counted:
// it stands for a service on the Internet.
//
// A wait is what costs time in addition to the statement itself. On PostgreSQL it is a round trip:
// the server's message ReadyForQuery, which ends each answer that the program waits for. So
// BEGIN, COMMIT and each preparation are waits as well. On SQLite, which has no round trips,
// it is a COMMIT, which waits for the disk.
var databaseCalls struct{ statements, waits atomic.Int64 }

// traceSQLite counts the statements of all connections to a file mailhelm.db that are opened
// from now on. The driver has no hook for statements, so traceSQLite calls the function
// sqlite3_trace_v2 of the connection, and passes it a function as the driver does.
var traceSQLite = sync.OnceFunc(func() {
	sqlite.RegisterConnectionHook(func(connection sqlite.ExecQuerierContext, name string) error {
		if !strings.Contains(name, "mailhelm.db") {
			return nil
		}
		handle := uintptr(reflect.ValueOf(connection).Elem().FieldByName("db").Uint())
		callback := traceStatement
		sqlite3.Xsqlite3_trace_v2(libc.NewTLS(), handle, sqlite3.SQLITE_TRACE_STMT, *(*uintptr)(unsafe.Pointer(&callback)), 0)
		return nil
	})
})

// The beginnings of texts that traceStatement does not count as statements. SQLite reports
// each statement of a trigger with a comment as its text.
var (
	beginText, commitText, rollbackText = cString("BEGIN"), cString("COMMIT"), cString("ROLLBACK")
	triggerText                         = cString("--")
)

func cString(text string) uintptr {
	c, err := libc.CString(text)
	if err != nil {
		panic(err) // out of memory
	}
	return c
}

// traceStatement is called by SQLite when a statement begins to run. text is the statement's
// SQL. It allocates nothing unless the statement is recorded.
func traceStatement(tls *libc.TLS, _ uint32, _, statement, text uintptr) int32 {
	begins := func(with uintptr, length int32) bool { return sqlite3.Xsqlite3_strnicmp(tls, text, with, length) == 0 }
	switch {
	case begins(commitText, 6):
		databaseCalls.waits.Add(1)
	case begins(beginText, 5), begins(rollbackText, 8), begins(triggerText, 2):
	default:
		databaseCalls.statements.Add(1)
		if to := recordTo.Load(); to != nil {
			to.add(tls, statement)
		}
	}
	return 0
}

// countPostgres starts a proxy on the loopback interface in front of the PostgreSQL server at
// the address, and returns the address with the proxy's host and port. The proxy counts the
// statements and round trips of all its connections.
func countPostgres(b *testing.B, address string) string {
	b.Helper()
	u, err := url.Parse(address)
	if err != nil {
		b.Fatal("the address of PostgreSQL is not a URL")
	}
	query := u.Query()
	port := cmp.Or(u.Port(), query.Get("port"), "5432")
	network, server := "tcp", net.JoinHostPort(u.Hostname(), port)
	if folder := query.Get("host"); folder != "" {
		network, server = "unix", folder+"/.s.PGSQL."+port
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go forward(client, network, server)
		}
	}()
	query.Del("host")
	query.Del("port")
	query.Set("sslmode", "disable") // the proxy reads the messages
	u.Host, u.RawQuery = listener.Addr().String(), query.Encode()
	return u.String()
}

// forward copies between a client and the PostgreSQL server until one of them closes.
func forward(client net.Conn, network, address string) {
	defer client.Close() //nolint:errcheck // nothing is left to send
	server, err := net.Dial(network, address)
	if err != nil {
		return
	}
	defer server.Close() //nolint:errcheck // nothing is left to send
	go func() {
		_, _ = io.CopyBuffer(onlyWriter{server}, onlyReader{client, &protocolStream{untyped: true, count: countSent}}, make([]byte, 64<<10))
		_ = server.Close()
	}()
	_, _ = io.CopyBuffer(onlyWriter{client}, onlyReader{server, &protocolStream{count: countAnswered}}, make([]byte, 64<<10))
}

// onlyReader and onlyWriter hide other methods of connections, with which io.CopyBuffer would
// copy without the buffer.
type onlyReader struct {
	net.Conn
	to *protocolStream
}

func (r onlyReader) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	r.to.add(p[:n])
	return n, err
}

// WriteTo hides that of the connection: it has another signature than io.WriterTo.
func (onlyReader) WriteTo() {}

type onlyWriter struct{ io.Writer }

// protocolStream divides one direction of a connection into messages of the PostgreSQL protocol
// (version 3): a type, a length of four bytes that includes itself, and a body. It keeps the
// beginning of each and calls count for it.
type protocolStream struct {
	count func(kind byte, body []byte)
	// untyped is true before the first message of a client, which has no type.
	untyped bool
	start   [5 + 8]byte
	have    int // bytes of the current message in start
	skip    int // bytes of the current message that follow start
}

func (m *protocolStream) add(p []byte) {
	for len(p) > 0 {
		if m.skip > 0 {
			n := min(m.skip, len(p))
			m.skip, p = m.skip-n, p[n:]
			continue
		}
		if m.untyped && m.have == 0 {
			m.have = 1 // as if it had a type
			continue
		}
		m.start[m.have] = p[0]
		m.have, p = m.have+1, p[1:]
		if m.have < 5 {
			continue
		}
		body := int(binary.BigEndian.Uint32(m.start[1:5])) - 4
		if m.have < min(5+body, len(m.start)) {
			continue
		}
		if !m.untyped {
			m.count(m.start[0], m.start[5:m.have])
		}
		m.untyped, m.skip, m.have = false, 5+body-m.have, 0
	}
}

// countSent counts a message of a client: Execute of the extended protocol, or Query of the
// simple one, which the driver uses for statements without parameters and for BEGIN, COMMIT and
// ROLLBACK.
func countSent(kind byte, body []byte) {
	switch {
	case kind == 'E':
	case kind == 'Q' && !begins(body, "BEGIN") && !begins(body, "COMMIT") && !begins(body, "ROLLBACK"):
	default:
		return
	}
	databaseCalls.statements.Add(1)
}

func begins(body []byte, with string) bool {
	return len(body) >= len(with) && string(body[:len(with)]) == with
}

// countAnswered counts the message ReadyForQuery of the server.
func countAnswered(kind byte, _ []byte) {
	if kind == 'Z' {
		databaseCalls.waits.Add(1)
	}
}
