package frame_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestUploadNeedsItsToken checks that a file is read, and gets the time for it, only if the
// form begins with a valid token.
func TestUploadNeedsItsToken(t *testing.T) {
	t.Parallel()
	site := &frametest.Site{Visitor: people.Visitor{User: access.User{ID: "ada"}}}
	f := frame.New(frame.Config{Site: site, Organizations: storagetest.SQLite(t).Members(), Pace: frametest.Unpaced})
	var received []string
	pages, err := f.Mux([]frame.Route{{Path: "/import", MaxUpload: 1 << 20, Upload: func(_ http.ResponseWriter, _ *http.Request, _ people.Visitor, name string, file io.Reader) {
		content, err := io.ReadAll(file)
		if err != nil {
			t.Error(err)
		}
		received = append(received, name+": "+string(content))
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		token   string
		status  int
		uploads int
	}{
		{"", http.StatusForbidden, 0},
		{"forged", http.StatusForbidden, 0},
		{frame.FormTo(site.Visitor, "/dashboard/other").Token, http.StatusForbidden, 0},
		{frame.FormTo(site.Visitor, "/dashboard/import").Token, http.StatusOK, 1},
	} {
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, uploadOf(t, c.token))
		if w.Code != c.status || len(received) != c.uploads || site.Uploads != c.uploads {
			t.Errorf("token %q: %d, received %q, time given %d times", c.token, w.Code, received, site.Uploads)
		}
	}
}

// uploadOf returns a form with a token and a file.
func uploadOf(t *testing.T, token string) *http.Request {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	err := form.WriteField(frame.FieldToken, token)
	if err == nil {
		var file io.Writer
		if file, err = form.CreateFormFile("file", "contacts.csv"); err == nil {
			_, err = file.Write([]byte("email\nada@example.com\n"))
		}
	}
	if err != nil || form.Close() != nil {
		t.Fatal("the form was not written:", err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/dashboard/import", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	return r
}
