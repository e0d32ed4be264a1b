package assets

import "time"

// Asset is an image at a path.
type Asset struct {
	ID          string    `json:"id" jsonschema:"format=uuid"`
	SourcePath  string    `json:"source_path" voice:"untrusted" jsonschema_description:"Path in the bundle or the repository. Templates name it."`
	ContentHash string    `json:"content_hash" voice:"ours" jsonschema_description:"SHA-256 of the content in hexadecimal. Equal contents have equal hashes."`
	ContentType string    `json:"content_type" voice:"ours" jsonschema:"enum=image/png,enum=image/jpeg,enum=image/gif,enum=image/webp,enum=image/svg+xml" jsonschema_description:"Type that the content has, whatever its name says."`
	URL         string    `json:"url" voice:"ours" jsonschema_description:"Public address of this content, which never changes. Empty if the installation has no asset address."`
	Width       int       `json:"width" jsonschema_description:"Pixels; 0 if the file does not say it."`
	Height      int       `json:"height" jsonschema_description:"Pixels; 0 if the file does not say it."`
	SizeBytes   int       `json:"size_bytes" jsonschema_description:"Length of the content in bytes."`
	CreatedAt   time.Time `json:"created_at" jsonschema_description:"When an image was first at this path."`
}

// Detail is an image with where it comes from.
type Detail struct {
	Asset
	Branch string `json:"branch" voice:"untrusted" jsonschema_description:"Branch of the repository that has the image; empty for an image of a bundle."`
}
