package frame

import (
	"io"
	"mime/multipart"
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core/people"
)

// UploadHandler answers a form that sends a file. The frame has checked the form's token,
// which must be the first field, before the file was read. file is the content, of which
// the handler keeps only a part in memory at a time.
type UploadHandler func(w http.ResponseWriter, r *http.Request, v people.Visitor, name string, file io.Reader)

// maxToken is the maximum length of the token field of an upload.
const maxToken = 1 << 10

// readUpload returns a handler that reads the token and the file of a form with the encoding
// multipart/form-data (RFC 7578), and calls next. It refuses other forms.
func (p *Pages) readUpload(next UploadHandler) Handler {
	return func(w http.ResponseWriter, r *http.Request, v people.Visitor) {
		parts, err := r.MultipartReader()
		if err != nil {
			p.refuseUpload(w, r, v)
			return
		}
		first, err := parts.NextPart()
		if err != nil || first.FormName() != FieldToken {
			p.refuseUpload(w, r, v)
			return
		}
		token, err := io.ReadAll(io.LimitReader(first, maxToken))
		if err != nil {
			p.refuseUpload(w, r, v)
			return
		}
		r.PostForm = url.Values{FieldToken: {string(token)}}
		p.checkToken(func(w http.ResponseWriter, r *http.Request, v people.Visitor) {
			p.Site.AllowUpload(w, r)
			file, ok := filePart(parts)
			if !ok {
				p.refuseUpload(w, r, v)
				return
			}
			next(w, r, v, file.FileName(), file)
		})(w, r, v)
	}
}

// filePart returns the first part of a form that is a file. It skips at most a few fields.
func filePart(parts *multipart.Reader) (*multipart.Part, bool) {
	const maxFields = 10
	for range maxFields {
		part, err := parts.NextPart()
		if err != nil {
			return nil, false
		}
		if part.FileName() != "" {
			return part, true
		}
	}
	return nil, false
}

// refuseUpload refuses a form without a file.
func (p *Pages) refuseUpload(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	p.Refuse(w, r, v, http.StatusBadRequest, "The file could not be read", "Choose a file and send it again.")
}
