package beacon

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/mailhelm/mailhelm/core/site"
	"github.com/mailhelm/mailhelm/rest/beacon/script"
)

// Path is the path below which this package answers.
const Path = "/s"

// visitPath is the path of beacons.
const visitPath = Path + "/visit"

// Config configures the handler. All fields are required.
type Config struct {
	// Accept takes the body of a beacon. remote is the client address as host:port.
	Accept func(remote string, body []byte) site.Outcome
	// Remote returns the client address of a request as host:port.
	Remote func(r *http.Request) string
}

// New returns the handler of all paths below Path. It fails if the script cannot be
// compressed.
//
// Every beacon gets an empty answer with the status 204 and the same headers, whether it was
// taken or not. The only exception is 404 for a valid key whose organization has turned beacons
// off. Any origin may send beacons; the answer to browsers allows no credentials.
func New(cfg Config) (http.Handler, error) {
	files := map[string]*file{}
	for path, f := range map[string]*file{
		script.JavaScriptPath: {content: script.JavaScript(), contentType: "application/javascript"},
		script.TypesPath:      {content: script.Types(), contentType: "application/typescript"},
	} {
		if err := f.prepare(); err != nil {
			return nil, err
		}
		files[path] = f
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Access-Control-Allow-Origin"] = anyOrigin
		h["X-Content-Type-Options"] = noSniff
		if r.URL.Path == visitPath {
			cfg.visit(w, r)
			return
		}
		f := files[r.URL.Path]
		switch {
		case f == nil:
			w.WriteHeader(http.StatusNotFound)
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			f.ServeHTTP(w, r)
		default:
			h.Set("Allow", "GET, HEAD")
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	}), nil
}

// Values of headers that many answers share. They must not be changed.
var (
	anyOrigin = []string{"*"}
	noSniff   = []string{"nosniff"}
	noStore   = []string{"no-store"}
)

// bodies has buffers for beacons. A buffer holds one byte more than a beacon may have.
var bodies = sync.Pool{New: func() any { return bytes.NewBuffer(make([]byte, 0, site.MaxBody+bytes.MinRead+1)) }}

// visit answers POST /s/visit.
func (cfg Config) visit(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["Cache-Control"] = noStore
	switch r.Method {
	case http.MethodPost:
		w.WriteHeader(cfg.take(r))
	case http.MethodOptions:
		// Browsers send text/plain without asking first. A caller that sends application/json
		// asks.
		h.Set("Access-Control-Allow-Methods", "POST")
		h.Set("Access-Control-Allow-Headers", "Content-Type")
		h.Set("Access-Control-Max-Age", "86400")
		w.WriteHeader(http.StatusNoContent)
	default:
		h.Set("Allow", "POST, OPTIONS")
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// take reads the body of a beacon, of any content type, and returns the status of the answer.
// A body that is too large or incomplete is taken as an empty one, which is malformed.
func (cfg Config) take(r *http.Request) int {
	buffer, _ := bodies.Get().(*bytes.Buffer)
	defer bodies.Put(buffer)
	buffer.Reset()
	if r.ContentLength <= site.MaxBody {
		_, err := buffer.ReadFrom(io.LimitReader(r.Body, site.MaxBody+1))
		if err != nil || buffer.Len() > site.MaxBody {
			buffer.Reset()
		}
	}
	if cfg.Accept(cfg.Remote(r), buffer.Bytes()) == site.TurnedOff {
		return http.StatusNotFound
	}
	return http.StatusNoContent
}

// file is a public file that is served as it is or compressed.
type file struct {
	content, compressed []byte
	contentType, tag    string
}

// prepare compresses the file and computes its entity tag.
func (f *file) prepare() error {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(f.content); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	sum := sha256.Sum256(f.content)
	f.compressed, f.tag = out.Bytes(), hex.EncodeToString(sum[:8])
	return nil
}

// ServeHTTP answers GET and HEAD with the file. Caches keep it for an hour.
func (f *file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, content, tag := w.Header(), f.content, `"`+f.tag+`"`
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "public, max-age=3600")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Vary", "Accept-Encoding")
	if acceptsGzip(r.Header.Get("Accept-Encoding")) {
		content, tag = f.compressed, `"`+f.tag+`-gzip"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", tag)
	if strings.Contains(r.Header.Get("If-None-Match"), tag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(content)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(content) // the client may have gone
	}
}

// acceptsGzip reports whether the header Accept-Encoding allows gzip (RFC 9110 section
// 12.5.3).
func acceptsGzip(header string) bool {
	for choice := range strings.SplitSeq(header, ",") {
		name, parameters, _ := strings.Cut(choice, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			quality, found := strings.CutPrefix(strings.ReplaceAll(parameters, " ", ""), "q=")
			return !found || strings.Trim(quality, "0.") != ""
		}
	}
	return false
}
