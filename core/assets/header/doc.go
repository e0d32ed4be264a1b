// Package header recognizes images by the beginning of their content and reads their width and
// height from it. It decodes no pixels, allocates no memory for them, and trusts no number in the
// file: its work is bounded by the length of the content.
//
// It does not check that the rest of the content is an image. Who serves the content must do so
// in a way that is safe for any content of the type.
package header
