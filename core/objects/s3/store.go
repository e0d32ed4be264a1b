package s3

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
	"golang.org/x/sync/errgroup"
)

// store keeps objects in a bucket.
type store struct {
	id      string
	bucket  objects.Bucket
	client  *s3.Client
	presign *s3.PresignClient
	config  Config
}

// ID returns the id that the store was opened with.
func (s *store) ID() string { return s.id }

// name returns the name of the object with a key in the bucket.
func (s *store) name(key string) *string { return aws.String(s.bucket.Prefix + key) }

// Put stores an object. See [objects.Store]. A body that cannot seek is read into memory,
// because its hash is signed before it is sent.
func (s *store) Put(ctx context.Context, key string, body io.Reader, size int64, contentType string) error {
	if err := objects.CheckKey(key); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	content, err := seekable(body, size)
	if err != nil {
		return err
	}
	in := &s3.PutObjectInput{
		Bucket: &s.bucket.Name, Key: s.name(key), Body: content, ContentLength: &size,
		ContentType: aws.String(objects.Link{ContentType: contentType}.Clean().ContentType),
	}
	if s.bucket.Encryption != objects.EncryptionDefault {
		in.ServerSideEncryption = types.ServerSideEncryption(s.bucket.Encryption)
	}
	if s.bucket.KMSKeyID != "" {
		in.SSEKMSKeyId = &s.bucket.KMSKeyID
	}
	bounded, cancel := s.config.bounded(ctx, size)
	defer cancel()
	_, err = s.client.PutObject(bounded, in)
	return failureOf(bounded, ctx, err)
}

// Add stores an object under its key. See [objects.Store].
func (s *store) Add(ctx context.Context, key string, content []byte, contentType string) (string, error) {
	return key, s.Put(ctx, key, bytes.NewReader(content), int64(len(content)), contentType)
}

// seekable returns the rest of a body as an io.ReadSeeker. It fails with objects.ErrSize if
// the rest does not have size bytes, and with the error of the body.
func seekable(body io.Reader, size int64) (io.ReadSeeker, error) {
	if seeker, ok := body.(io.ReadSeeker); ok {
		start, err := seeker.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, err
		}
		end, err := seeker.Seek(0, io.SeekEnd)
		if err != nil {
			return nil, err
		}
		if end-start != size {
			return nil, objects.ErrSize
		}
		_, err = seeker.Seek(start, io.SeekStart)
		return seeker, err
	}
	content, err := io.ReadAll(io.LimitReader(body, size+1))
	if err != nil {
		return nil, err
	}
	if int64(len(content)) != size {
		return nil, objects.ErrSize
	}
	return bytes.NewReader(content), nil
}

// Open opens an object. See [objects.Store]. Reading fails with ErrUnavailable if the
// connection ends before the object does.
func (s *store) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := objects.CheckKey(key); err != nil {
		return nil, err
	}
	body, _, err := s.get(ctx, s.name(key))
	return body, err
}

// get opens the object with a name in the bucket. It fails with not_found if there is none.
func (s *store) get(ctx context.Context, name *string) (io.ReadCloser, *s3.GetObjectOutput, error) {
	// The context ends when the caller closes the body. Until the answer begins, the transport
	// limits the time.
	bounded, cancel := context.WithTimeoutCause(ctx, readTimeout, errTooSlow)
	out, err := s.client.GetObject(bounded, &s3.GetObjectInput{Bucket: &s.bucket.Name, Key: name})
	if err != nil {
		defer cancel()
		if isMissing(err) {
			return nil, nil, objects.NotFound()
		}
		return nil, nil, failureOf(bounded, ctx, err)
	}
	return &content{ReadCloser: out.Body, bounded: bounded, caller: ctx, cancel: cancel}, out, nil
}

// content is the body of an object that is read.
type content struct {
	io.ReadCloser
	bounded context.Context //nolint:containedctx // of the request whose answer is read
	caller  context.Context //nolint:containedctx // of the caller of Open
	cancel  context.CancelFunc
}

// Read reads from the object.
func (c *content) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = failureOf(c.bounded, c.caller, err)
	}
	return n, err
}

// Close ends the request.
func (c *content) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}

// Delete deletes objects. See [objects.Store].
func (s *store) Delete(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		if err := objects.CheckKey(key); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(deletions)
	for _, key := range keys {
		group.Go(func() error {
			bounded, cancel := s.config.bounded(ctx, 0)
			defer cancel()
			_, err := s.client.DeleteObject(bounded, &s3.DeleteObjectInput{Bucket: &s.bucket.Name, Key: s.name(key)})
			if isMissing(err) { // Amazon S3 answers 204, other servers 404
				return nil
			}
			return failureOf(bounded, ctx, err)
		})
	}
	return group.Wait()
}

// Link returns a presigned URL. See [objects.Store]. The answer is always an attachment: the
// content of an object is not known here, and the host of the bucket is not ours. The life
// of the URL begins at the time of the machine's clock, which the SDK reads itself.
func (s *store) Link(ctx context.Context, key string, l objects.Link) (string, error) {
	if err := objects.CheckKey(key); err != nil {
		return "", err
	}
	life := l.Until.Sub(s.config.Clock())
	if life <= 0 {
		return "", errors.New("link to received mail: the time is over")
	}
	l = l.Clean()
	request, err := s.presign.PresignGetObject(ctx, &s3.GetObjectInput{
		Bucket: &s.bucket.Name, Key: s.name(key), ResponseCacheControl: aws.String("private, no-store"),
		ResponseContentDisposition: aws.String(l.Disposition(false)), ResponseContentType: &l.ContentType,
	}, s3.WithPresignExpires(min(life, objects.MaxLinkLife)))
	if err != nil {
		return "", core.Internal(err)
	}
	return request.URL, nil
}
