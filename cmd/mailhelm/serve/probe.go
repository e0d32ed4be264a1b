package serve

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Probe returns an error unless every listen address of the host answers. The error names
// each service that does not answer. It contacts all services concurrently and waits at
// most two seconds.
func (h *Host) Probe(ctx context.Context) error {
	var asking sync.WaitGroup
	ports := h.cfg.Ports()
	failures := make([]error, len(ports))
	for i, p := range ports {
		asking.Go(func() {
			if err := p.Probe(ctx); err != nil {
				failures[i] = fmt.Errorf("%s does not answer: %w", p.Service, err)
			}
		})
	}
	asking.Wait()
	return errors.Join(failures...)
}
