package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// The user of the container image, by convention that of images without a shell. The data
// folder is the image's only volume.
const (
	imageUser = 65532
	imageData = "data/"
)

// The media types of the OCI image specification.
const (
	mediaIndex    = "application/vnd.oci.image.index.v1+json"
	mediaManifest = "application/vnd.oci.image.manifest.v1+json"
	mediaConfig   = "application/vnd.oci.image.config.v1+json"
	mediaLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// descriptor refers to a blob of an OCI layout.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *imagePlatform    `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// imagePlatform is the platform of an image.
type imagePlatform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

// manifest is an OCI manifest: the configuration and the layers of one image.
type manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        descriptor   `json:"config"`
	Layers        []descriptor `json:"layers"`
}

// index is an OCI index: the images of all platforms.
type index struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Manifests     []descriptor `json:"manifests"`
}

// imageConfig is the configuration of an OCI image.
type imageConfig struct {
	Created time.Time `json:"created"`
	imagePlatform
	Config runConfig `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
	History []struct {
		Created   time.Time `json:"created"`
		CreatedBy string    `json:"created_by"`
	} `json:"history"`
}

// runConfig says how a container of the image runs.
type runConfig struct {
	User         string
	ExposedPorts map[string]struct{}
	Env          []string
	Entrypoint   []string
	Cmd          []string
	Volumes      map[string]struct{}
	WorkingDir   string
	Labels       map[string]string
}

// layout collects the blobs of an OCI layout.
type layout struct{ blobs []entry }

// add adds a blob and returns its descriptor.
func (l *layout) add(media string, content []byte) descriptor {
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	l.blobs = append(l.blobs, entry{name: "blobs/sha256/" + sum, mode: 0o644, content: content})
	return descriptor{MediaType: media, Digest: "sha256:" + sum, Size: len(content)}
}

// addJSON adds a value as a blob in JSON.
func (l *layout) addJSON(media string, value any) (descriptor, error) {
	content, err := json.Marshal(value)
	return l.add(media, content), err
}

// image writes the container image for the platforms as a tar archive with an OCI layout,
// which `docker load`, `podman load` and `skopeo copy oci-archive:` read.
func (r release) image(platforms []platform) error {
	roots, err := os.ReadFile(r.certificates)
	if err != nil {
		return err
	}
	l := &layout{}
	all := index{SchemaVersion: 2, MediaType: mediaIndex}
	for _, p := range platforms {
		program, err := os.ReadFile(p.binary)
		if err != nil {
			return err
		}
		one, err := r.platformImage(l, imagePlatform{Architecture: p.arch, OS: p.system}, program, roots)
		if err != nil {
			return err
		}
		all.Manifests = append(all.Manifests, one)
	}
	top, err := l.addJSON(mediaIndex, all)
	if err != nil {
		return err
	}
	top.Annotations = map[string]string{
		"io.containerd.image.name":          "docker.io/library/mailhelm:" + r.version,
		"org.opencontainers.image.ref.name": r.version,
	}
	content, err := json.Marshal(index{SchemaVersion: 2, MediaType: mediaIndex, Manifests: []descriptor{top}})
	if err != nil {
		return err
	}
	entries := append([]entry{
		{name: "oci-layout", mode: 0o644, content: []byte(`{"imageLayoutVersion":"1.0.0"}`)},
		{name: "index.json", mode: 0o644, content: content},
	}, l.blobs...)
	archive, err := tarball(entries, r.at)
	if err != nil {
		return err
	}
	return r.publish("mailhelm_"+r.version+"_image.tar", archive)
}

// platformImage adds the image of one platform: one layer with the program, the certificate
// authorities, a folder for temporary files and the data folder. It returns the descriptor
// of the image's manifest.
func (r release) platformImage(l *layout, p imagePlatform, program, roots []byte) (descriptor, error) {
	layer, err := tarball([]entry{
		{name: imageData, mode: 0o700, uid: imageUser},
		{name: "etc/", mode: 0o755},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: roots},
		{name: "mailhelm", mode: 0o755, content: program},
		{name: "tmp/", mode: 0o1777},
	}, r.at)
	if err != nil {
		return descriptor{}, err
	}
	packed, err := compress(layer)
	if err != nil {
		return descriptor{}, err
	}
	config := imageConfig{Created: r.at, imagePlatform: p, Config: r.runConfig()}
	config.RootFS.Type = "layers"
	config.RootFS.DiffIDs = []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}
	config.History = append(config.History, struct {
		Created   time.Time `json:"created"`
		CreatedBy string    `json:"created_by"`
	}{r.at, "make release"})
	described, err := l.addJSON(mediaConfig, config)
	if err != nil {
		return descriptor{}, err
	}
	d, err := l.addJSON(mediaManifest, manifest{
		SchemaVersion: 2, MediaType: mediaManifest, Config: described, Layers: []descriptor{l.add(mediaLayer, packed)},
	})
	d.Platform = &p
	return d, err
}

// runConfig returns how a container runs: as a user without rights, with all listeners on
// all addresses of the container, because others cannot reach its loopback. The admin
// address is not among the exposed ports, which docker run -P publishes: it requires no
// credential.
func (r release) runConfig() runConfig {
	return runConfig{
		User:         fmt.Sprintf("%d:%d", imageUser, imageUser),
		ExposedPorts: map[string]struct{}{"8080/tcp": {}, "8081/tcp": {}, "8082/tcp": {}, "8083/tcp": {}, "2525/tcp": {}},
		Env:          strings.Fields(string(packaged("image.env"))),
		Entrypoint:   []string{"/mailhelm"},
		Cmd:          []string{"serve"},
		Volumes:      map[string]struct{}{"/data": {}},
		WorkingDir:   "/data",
		Labels: map[string]string{
			"org.opencontainers.image.title":       "Mailhelm",
			"org.opencontainers.image.description": "Control plane for email on top of your own sending account",
			"org.opencontainers.image.licenses":    "Apache-2.0",
			"org.opencontainers.image.version":     r.version,
			"org.opencontainers.image.revision":    r.commit,
			"org.opencontainers.image.created":     r.at.Format(time.RFC3339),
		},
	}
}
