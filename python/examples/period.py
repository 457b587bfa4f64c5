import iophase as iop
start = [12.5 * k for k in range(20)]
print(iop.detect(start, [t + 2 for t in start], [1e9] * 20).primary.period.period_s)
