// Package s3 keeps the objects of received mail in a bucket of the customer, at Amazon S3 or
// at another server with its protocol; it implements [objects.Store].
//
// It uses only calls that such servers have in common: PutObject, GetObject and DeleteObject,
// with signed payloads, and presigned URLs. It does not use checksums in trailers or
// DeleteObjects, which some servers lack. The access key needs s3:PutObject, s3:GetObject and
// s3:DeleteObject for the objects, and s3:ListBucket for the bucket: without the last,
// Amazon S3 answers 403 for an object that does not exist.
//
// Customers choose the endpoint, so each connection is checked by [outbound.Guard]. No
// redirect is followed and no proxy is used.
package s3
