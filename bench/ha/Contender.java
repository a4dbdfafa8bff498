import java.time.Instant;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** A process that takes part in an election by Curator's LeaderLatch until its standard input ends. */
public final class Contender {
    public static void main(String[] args) throws Exception {
        String servers = args[0];
        int timeout = Integer.parseInt(args[1]);
        CuratorFramework client =
                CuratorFrameworkFactory.newClient(servers, timeout, timeout, new ExponentialBackoffRetry(100, 3));
        client.start();
        LeaderLatch latch = new LeaderLatch(client, "/curator", args[2], LeaderLatch.CloseMode.SILENT);
        latch.addListener(new LeaderLatchListener() {
            @Override
            public void isLeader() {
                Instant now = Instant.now();
                System.out.println("lead " + (now.getEpochSecond() * 1_000_000_000L + now.getNano()));
            }

            @Override
            public void notLeader() {
                System.out.println("follow");
            }
        });
        latch.start();
        System.out.println("up");
        while (System.in.read() >= 0) {
            // nothing is said on it but its end
        }
        latch.close();
        client.close();
        System.exit(0);
    }
}
