import sys
sys.path.insert(0,'Benchmarks')
import load
from world import World
with World(enrollments=64, counted=True) as world:
    world.agent.rest()
    for _ in range(2):
        before, spent = world.counts.now()["syncs"], world.agent.cpu()
        rate=load.approvals_a_second(world,64,1280)
        print('%.0f/s syncs %.3f cpu %.2f ms'%(rate,(world.counts.now()["syncs"]-before)/1280,(world.agent.cpu()-spent)*1000/1280),flush=True)
