package files

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/mailhelm/mailhelm/core/objects"
)

// ServeLink answers a GET or HEAD request for a link. token is what follows LinkPath in the
// path of the URL. The answer tells browsers to run nothing and to save the object, except
// that raster images are shown; the content decides what is a raster image, not the mail.
//
// It fails with not_found, and has then written nothing, if the token was not made by Link,
// if its time is over or if the object does not exist; the answer must not tell these apart.
// It fails with objects.ErrUnavailable if the disk does. Mount it on the fetch host only:
// the content comes from strangers and must not have the origin of other pages.
func (f *Files) ServeLink(w http.ResponseWriter, r *http.Request, token string) error {
	key, link, ok := f.links.parse(token)
	if !ok || !f.cfg.Clock().Before(link.Until) || objects.CheckKey(key) != nil {
		return objects.NotFound()
	}
	file, err := f.open(key)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	image, err := rasterType(file)
	if err != nil {
		return unavailable("read", err)
	}
	h := w.Header()
	h.Set("Content-Type", link.ContentType)
	if image != "" {
		h.Set("Content-Type", image)
	}
	h.Set("Content-Disposition", link.Disposition(image != ""))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cache-Control", "private, no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	// ServeContent answers HEAD and Range requests. The zero time sends no Last-Modified.
	http.ServeContent(w, r, "", time.Time{}, file)
	return nil
}

// rasterType returns the content type of a raster image, or "" for any other file. It leaves
// the file at its beginning.
func rasterType(file io.ReadSeeker) (string, error) {
	head := make([]byte, objects.RasterHead)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	return objects.RasterType(head[:n]), nil
}
