package load

import (
	"database/sql"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/mailhelm/mailhelm/conformance/product"
	_ "modernc.org/sqlite" // the SQLite driver of the product, which bareGin also uses
)

// BenchmarkRESTContact compares GET /v1/contacts/{email} of the product with a Gin handler
// that only reads a row of SQLite and writes it as JSON. The product also checks the API
// key and the rate limit, reads consent from the sending account and the lists of the
// contact, and logs.
func BenchmarkRESTContact(b *testing.B) {
	p := product.Start(b, product.Options{})
	address := p.BaseURL + "/v1/contacts/" + url.PathEscape(p.Contact)
	bare := bareGin(b)
	compare(b,
		target{"mailhelm", func() (*http.Request, error) {
			r, err := http.NewRequest(http.MethodGet, address, http.NoBody)
			if err == nil {
				r.Header.Set("Authorization", "Bearer "+p.Live.APIKey)
			}
			return r, err
		}},
		target{"bare-gin", func() (*http.Request, error) {
			return http.NewRequest(http.MethodGet, bare+"/v1/contacts/ann@example.com", http.NoBody)
		}},
	)
}

// bareGin starts a server with a minimal Gin handler that reads one row by a prepared
// statement. It returns the URL of the server.
func bareGin(b *testing.B) string {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "bare.db")+"?_pragma=journal_mode(WAL)")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	const rows = `CREATE TABLE contacts (email text PRIMARY KEY, id text, attributes text);
		INSERT INTO contacts VALUES ('ann@example.com', '0198c0de-0000-7000-8000-000000000000', '{"plan":"pro","age":41}');`
	if _, err := db.Exec(rows); err != nil {
		b.Fatal(err)
	}
	read, err := db.Prepare(`SELECT id, attributes FROM contacts WHERE email = $1`)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = read.Close() })
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.GET("/v1/contacts/:email", func(c *gin.Context) {
		var id, attributes string
		if err := read.QueryRowContext(c, c.Param("email")).Scan(&id, &attributes); err != nil {
			c.Status(http.StatusInternalServerError)
			return
		}
		c.JSON(http.StatusOK, gin.H{"id": id, "email": c.Param("email"), "attributes": attributes})
	})
	server := httptest.NewServer(router)
	b.Cleanup(server.Close)
	return server.URL
}
