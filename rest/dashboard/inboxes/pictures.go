package inboxes

import (
	"context"
	"io"

	"github.com/mailhelm/mailhelm/core/inbound/safehtml"
)

// Attachments reads attachments of messages. It is *inboxes.Inboxes of package core/inboxes in
// the product, which has the contract.
type Attachments interface {
	OpenAttachment(ctx context.Context, orgID, inboxID string, position, n int) (io.ReadCloser, error)
}

// maxPictures is how many attachments are read for one preview. Each is a request to the storage.
const maxPictures = 40

// pictures reads the images of a message to which its HTML refers, each once: at most maxPictures,
// and safehtml.MaxEmbedded bytes in all. The others are represented by their alternative text.
type pictures struct {
	files []file
	open  func(n int) (io.ReadCloser, error)
	// read has the content by Content-ID, nil for what is not shown. bytes is the size of all.
	read  map[string][]byte
	opens int
	bytes int64
}

// content returns the content of the first attachment with a Content-ID, or nil if there is none
// to show. An attachment that cannot be read now is not shown, so that the rest of the mail is.
func (p *pictures) content(id string) []byte {
	if content, again := p.read[id]; again {
		return content
	}
	p.read[id] = nil
	for n, f := range p.files {
		if f.ContentID != id {
			continue
		}
		if p.opens < maxPictures && p.bytes+f.Size <= safehtml.MaxEmbedded {
			p.opens++
			p.bytes += f.Size
			p.read[id] = p.readFile(n, f.Size)
		}
		break
	}
	return p.read[id]
}

// readFile returns the content of an attachment, or nil if it cannot be read or is larger than
// its size.
func (p *pictures) readFile(n int, size int64) []byte {
	body, err := p.open(n)
	if err != nil {
		return nil
	}
	defer body.Close()
	content, err := io.ReadAll(io.LimitReader(body, size+1))
	if err != nil || int64(len(content)) > size {
		return nil
	}
	return content
}
