package contacts_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// wire is a proxy between Mailhelm and PostgreSQL. It records the beginning of the SQL of
// each round trip.
type wire struct {
	mu    sync.Mutex
	trips []string
}

// newWiretapped starts a wire, the recording proxy, in front of a new database. It returns
// the wire and the URL by which clients connect to the database through the wire.
func newWiretapped(t *testing.T) (*wire, string) {
	t.Helper()
	u, err := url.Parse(enginetest.PostgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	network, address := "tcp", u.Host
	q := u.Query()
	if folder := q.Get("host"); folder != "" {
		network, address = "unix", folder+"/.s.PGSQL.5432"
		q.Del("host")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	w := &wire{}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial(network, address)
			if err != nil {
				_ = client.Close()
				return
			}
			go func() { _, _ = io.Copy(client, server); _ = client.Close() }()
			go func() { _ = w.read(client, server); _ = server.Close() }()
		}
	}()
	u.Host, u.RawQuery = listener.Addr().String(), q.Encode()
	return w, u.String()
}

// read forwards the messages of the client to the server and records a round trip for each
// Query and Sync message (PostgreSQL protocol 3.0).
func (w *wire) read(client io.Reader, server io.Writer) error {
	in := bufio.NewReader(client)
	texts, last := map[string]string{}, ""
	for first := true; ; first = false {
		var kind byte
		if !first { // the startup message has no type byte
			var err error
			if kind, err = in.ReadByte(); err != nil {
				return err
			}
		}
		header := make([]byte, 4)
		if _, err := io.ReadFull(in, header); err != nil {
			return err
		}
		body := make([]byte, binary.BigEndian.Uint32(header)-4)
		if _, err := io.ReadFull(in, body); err != nil {
			return err
		}
		names := bytes.SplitN(body, []byte{0}, 3)
		switch kind {
		case 'P': // Parse message: statement name, SQL
			texts[string(names[0])], last = string(names[1]), "prepare "+string(names[1])
		case 'B': // Bind message: portal name, statement name
			last = texts[string(names[1])]
		case 'Q':
			w.note(string(names[0]))
		case 'S': // Sync message: the client now waits for an answer
			w.note(last)
		}
		message := append(header, body...)
		if !first {
			message = append([]byte{kind}, message...)
		}
		if _, err := server.Write(message); err != nil {
			return err
		}
	}
}

func (w *wire) note(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text = strings.Join(strings.Fields(text), " ")
	w.trips = append(w.trips, text[:min(len(text), 90)])
}

// takeNotes returns the round trips recorded since the last call of takeNotes.
func (w *wire) takeNotes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.trips
	w.trips = nil
	return all
}

// TestRoundTripsOfAContactWrite checks the number of round trips to PostgreSQL of five
// writes of one contact: of the whole call, and from BEGIN to COMMIT. A change of the code
// that adds a round trip must also change the number here.
func TestRoundTripsOfAContactWrite(t *testing.T) {
	t.Parallel()
	w, address := newWiretapped(t)
	db := storagetest.Open(t, storage.Config{URL: address})
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := setupOn(t, db)
	for _, write := range []struct {
		surface         core.Surface
		name, arguments string
		all, inside     int // number of round trips of the write (all), and of those from BEGIN to COMMIT (inside)
	}{
		{core.Agent, "contacts_upsert", `{"email":"%@example.com","attributes":{"plan":"pro","age":4}}`, 9, 7},
		{core.Agent, "contacts_upsert", `{"email":"ann@example.com","external_id":"ann","attributes":{"age":%}}`, 8, 6},
		{core.REST, "contacts_create", `{"email":"c%@example.com","attributes":{"plan":"pro"}}`, 8, 6},
		{core.REST, "contacts_update", `{"email":"ann@example.com","attributes":{"age":%}}`, 7, 5},
		{core.REST, "contacts_replace", `{"email":"ann@example.com","attributes":{"age":%}}`, 7, 5},
	} {
		b.Surface = write.surface
		// A connection prepares a statement when it first runs it, so the first calls
		// have more round trips.
		for _, n := range []string{"1", "2", "3"} {
			b.Want(t, write.name, strings.ReplaceAll(write.arguments, "%", n))
		}
		w.takeNotes()
		b.Want(t, write.name, strings.ReplaceAll(write.arguments, "%", "4"))
		trips := w.takeNotes()
		inside := 0
		for i, trip := range trips {
			if strings.HasPrefix(trip, "BEGIN") {
				inside = len(trips) - i
			}
		}
		if len(trips) != write.all || inside != write.inside {
			t.Errorf("%s(%s): %d round trips, want %d; from BEGIN on %d, want %d:\n%s",
				write.name, write.arguments, len(trips), write.all, inside, write.inside, strings.Join(trips, "\n"))
		}
	}
}
