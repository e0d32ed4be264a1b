package rest_test

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/gin-gonic/gin"
)

// The benchmarks compare a bare Gin handler that reads SQLite once, an operation that does
// nothing, and the route that looks up a contact.

func BenchmarkBareGin(b *testing.B) {
	db, err := sql.Open("sqlite", filepath.Join(b.TempDir(), "bare.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a temporary file
	if _, err := db.ExecContext(b.Context(), `CREATE TABLE contacts (email text PRIMARY KEY, name text); INSERT INTO contacts VALUES ('ada@example.com', 'Ada')`); err != nil {
		b.Fatal(err)
	}
	read, err := db.PrepareContext(b.Context(), `SELECT name FROM contacts WHERE email = $1`) //nolint:sqlclosecheck // closed when the benchmark ends
	if err != nil {
		b.Fatal(err)
	}
	defer read.Close() //nolint:errcheck // a temporary file
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.GET("/v1/contacts/:email", func(c *gin.Context) {
		var name string
		if err := read.QueryRowContext(c.Request.Context(), c.Param("email")).Scan(&name); err != nil {
			c.Status(http.StatusInternalServerError)
			return
		}
		c.JSON(http.StatusOK, map[string]string{"email": c.Param("email"), "name": name})
	})
	drive(b, engine, httptest.NewRequest(http.MethodGet, "/v1/contacts/ada@example.com", nil))
}

func BenchmarkTrivialOperation(b *testing.B) {
	s, _ := newProbeStack(b)
	drive(b, s.handler, s.request(http.MethodGet, "/v1/probes/ada@example.com", ""))
}

func BenchmarkContactsLookup(b *testing.B) {
	s, _ := newProbeStack(b)
	body, err := json.Marshal(map[string]string{"email": "ada@example.com"})
	if err != nil {
		b.Fatal(err)
	}
	s.do(b, http.MethodPost, "/v1/contacts", string(body)).want(201)
	drive(b, s.handler, s.request(http.MethodGet, "/v1/contacts/ada@example.com", ""))
}

func drive(b *testing.B, h http.Handler, r *http.Request) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatalf("status %d: %s", w.Code, w.Body)
		}
	}
}
