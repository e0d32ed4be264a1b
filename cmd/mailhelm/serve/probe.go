package serve

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Probe returns an error unless every address of the host answers. It asks all services
// at the same time and waits at most two seconds. The error names each service that
// does not answer.
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
