package login

import (
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
)

//go:embed pages/*.html
var templates embed.FS

//go:embed pages/style.css
var stylesheet []byte

// icon is the logo of Mailhelm, which browsers show beside the title of a page.
//
//go:embed pages/icon.svg
var icon []byte

// pages holds the parsed templates of the pages in this package.
type pages struct {
	signIn, account, refusal, proof, security, app, codes *template.Template
	password, forgotten, newPassword, deletion, deleted   *template.Template
}

func parsePages() (pages, error) {
	var p pages
	for file, into := range map[string]**template.Template{
		"sign_in.html": &p.signIn, "account.html": &p.account, "refusal.html": &p.refusal,
		"proof.html": &p.proof, "security.html": &p.security, "app.html": &p.app, "codes.html": &p.codes,
		"password.html": &p.password, "forgotten.html": &p.forgotten, "new_password.html": &p.newPassword,
		"delete_account.html": &p.deletion, "account_deleted.html": &p.deleted,
	} {
		parsed, err := ParsePage(templates, "pages/"+file, "pages/choose_password.html")
		if err != nil {
			return pages{}, err
		}
		*into = parsed
	}
	return p, nil
}

// ParsePage parses a page from files and puts it into the common layout. One of the files
// must define the template "content".
func ParsePage(files fs.FS, names ...string) (*template.Template, error) {
	frame, err := template.ParseFS(templates, "pages/frame.html")
	if err != nil {
		return nil, fmt.Errorf("page frame: %w", err)
	}
	page, err := frame.ParseFS(files, names...)
	if err != nil {
		return nil, fmt.Errorf("page %v: %w", names, err)
	}
	return page, nil
}

// IsSignedOut reports whether an error means that no person is signed in.
func IsSignedOut(err error) bool {
	e, ok := errors.AsType[*core.Error](err)
	return ok && e.Code == core.CodeInvalidKey
}

// serveFile returns a handler for a static file without personal data.
func serveFile(kind string, content []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { writeFile(w, r, kind, content) })
}

func writeFile(w http.ResponseWriter, r *http.Request, kind string, content []byte) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	h.Set("Content-Type", kind+"; charset=utf-8")
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("Content-Length", strconv.Itoa(len(content)))
	_, _ = w.Write(content) // an error means that the client has disconnected
}
